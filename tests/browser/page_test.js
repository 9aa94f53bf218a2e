// SPDX-License-Identifier: MIT
// node page_test.js FOLDER PICTURE: opens the pages in FOLDER, steps, searches, and looks at what they show.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const harness = require('./harness.js');

const [folder, picture] = process.argv.slice(2);

/// Opens a page, and notes how long it takes.
async function open(name, options) {
  const begin = performance.now();
  const page = await harness.open(`${folder}/${name}`, options);
  await page.waitForFunction(() => document.getElementById('status').textContent !== '');
  page.opened_in = performance.now() - begin;
  return page;
}
const output = page => page.textContent('#output');
const status = page => page.textContent('#status');

const tests = {
  async 'a page shows the seven lines in their order, forward and back'() {
    const page = await open('hello.html'), expected = fs.readFileSync(`${folder}/hello.txt`, 'utf8');
    assert.strictEqual(expected.split('\n').length, 8);
    const count = Number(await page.textContent('#count'));
    let shown = '';
    const seen = [shown];
    for (let i = 1; i < count; ++i) {
      await page.keyboard.press('ArrowRight');
      shown = await output(page);
      if (shown !== seen.at(-1)) seen.push(shown);
      assert.ok(expected.startsWith(shown));
    }
    assert.strictEqual(shown, expected);
    assert.strictEqual(seen.length, 8);
    for (let i = 1; i < count; ++i) {
      await page.keyboard.press('ArrowLeft');
      shown = await output(page);
      if (shown !== seen.at(-1)) seen.pop();
      assert.strictEqual(shown, seen.at(-1));
    }
    assert.strictEqual(shown, '');
  },

  async 'the source line, the queue and the handler belong to the event'() {
    const page = await open('hello.html');
    await page.fill('#search', 'performs console::print_line "hello 2"');
    await page.press('#search', 'Enter');
    assert.match(await status(page), /performs console::print_line "hello 2/);
    assert.match(await page.textContent('#source .now'), /co_await console::print_line\{"hello 2"\}/);
    assert.strictEqual(await page.textContent('#handlers .answers'), 'weft::console_to_stream answers');
    assert.deepStrictEqual(await page.locator('#queue .box b').allTextContents(), ['1.1 hello', '1 hello']);
    assert.match(await page.textContent('#queue .box:not(.runs)'), /proc::yield/);
    assert.match(await page.textContent('#events .now'), /hello 2/);
  },

  async 'the handlers of a process are a stack, with the one that answers'() {
    const page = await open('handlers.html');
    const stack = () => page.locator('#handlers li').allTextContents();
    const at = async what => {
      await page.fill('#search', what);
      await page.press('#search', 'Enter');
    };
    const own = ['weft::state_of<int>', 'counting', 'weft::reader_of<int>', 'weft::state_of<int>', 'weft::scheduler',
                 'weft::console_to_string'];
    const answered_by = n => own.map((name, i) => i === n ? `${name} answers` : name);
    for (const [what, n] of [['1.1 handles performs counter::next', 1], ['1.1 handles performs state<int>::get', 0],
                             ['1.1 handles performs state<int>::get', 3], ['1.1 handles performs counter::later', 1],
                             ['1.1 handles performs console::print_line', 5], ['1.1 handles performs proc::yield', 4]]) {
      await at(what);
      assert.deepStrictEqual(await stack(), answered_by(n), what);
      assert.strictEqual(await page.textContent('#handlers-of'), 'Handlers of 1.1 handles, innermost first');
    }
    const beside = page.locator('#queue .lane').first().locator('.under li');
    assert.deepStrictEqual(await beside.allTextContents(), own.map(n => n.replace('weft::', '')));
    assert.strictEqual(await page.textContent('#queue .under .answers'), 'scheduler');
    await at('1.1 handles is put into the queue: yielded');
    assert.deepStrictEqual(await stack(), answered_by(4));

    await at('1.2 prints performs console::print_line');
    assert.deepStrictEqual(await stack(), ['weft::scheduler', 'weft::console_to_string answers']);
    await page.locator('#queue .box:not(.runs)', {hasText: '1.1'}).click();
    assert.strictEqual(await page.textContent('#handlers-of'), 'Handlers of 1.1 handles, innermost first');
    assert.deepStrictEqual(await stack(), answered_by(4));
    await page.keyboard.press('ArrowRight');
    assert.strictEqual(await page.textContent('#handlers-of'), 'Handlers of 1.2 prints, innermost first');
    await page.keyboard.press('Home');
    assert.deepStrictEqual(await stack(), ['weft::scheduler', 'weft::console_to_string']);
  },

  async 'keys, buttons, the slider and the jump move'() {
    const page = await open('hello.html');
    const at = async () => Number(await page.inputValue('#jump'));
    await page.keyboard.press('End');
    const last = await at();
    assert.strictEqual(last, Number(await page.textContent('#count')));
    await page.keyboard.press('Home');
    assert.strictEqual(await at(), 1);
    await page.click('#forward');
    assert.strictEqual(await at(), 2);
    await page.click('#back');
    assert.strictEqual(await at(), 1);
    await page.fill('#jump', '7');
    await page.press('#jump', 'Enter');
    assert.strictEqual(await at(), 7);
    await page.locator('#position').fill('3');
    assert.strictEqual(await at(), 4);
    await page.selectOption('#grain', 'step');
    await page.click('#forward');
    assert.match(await status(page), /begins|goes on/);
    await page.locator('#events li').first().click();
    assert.strictEqual(await at(), 1);
    await page.click('#play');
    await page.waitForFunction(() => Number(document.getElementById('jump').value) > 1);
    await page.click('#play');
    await page.click('#time', {position: {x: 1000, y: 8}});
    assert.ok(await at() > 1);
    await page.locator('#time').hover();
    await page.mouse.wheel(0, -300);
  },

  async 'a page of a failing schedule has the smallest beside the first, and all outcomes'() {
    const page = await open('failing.html');
    const titles = await page.locator('#schedules h3').allTextContents();
    assert.strictEqual(titles.length, 2);
    assert.match(titles[0], /^the smallest schedule, failed/);
    const steps = page.locator('#schedules > div').first().locator('li');
    assert.ok(await page.locator('#schedules li.preempts').count() > 0);
    await steps.nth(2).click();
    assert.match(await page.textContent('#schedules .now'), /^3 /);
    assert.match(await status(page), /is taken/);
    await page.selectOption('#run', '1');
    assert.strictEqual(await page.inputValue('#jump'), '1');
    await page.locator('#schedules > div').nth(1).locator('li').first().click();
    assert.strictEqual(await page.locator('#schedules > div').nth(1).locator('.now').count(), 1);
    assert.ok(await page.locator('#outcomes tr').count() >= 1);
  },

  async 'versions of the queue are a tree, and show the chunks that they share'() {
    const page = await open('versions.html');
    assert.strictEqual(await page.locator('#versions .version').count(), 0);
    await page.click('#last');
    const names = await page.locator('#versions .version > span:first-child').allTextContents();
    assert.deepStrictEqual(names.map(n => n.replace(/^\u2514/, '')),
                           ['version 1, restored', 'version 2', 'version 3']);
    const chunks = n => page.locator('#versions .version').nth(n).locator('.chunk b').allTextContents();
    const first = new Set(await chunks(0));
    assert.ok((await chunks(1)).some(c => first.has(c)), 'versions 1 and 2 share a chunk');
    const margins = await page.$$eval('#versions .version', all => all.map(e => parseFloat(e.style.marginLeft)));
    assert.ok(margins[0] < margins[1] && margins[1] === margins[2], String(margins));
  },

  async 'the pages of chapters show the text of their chapters'() {
    const fork = await open('09_two_futures.html');
    await fork.fill('#search', 'forks');
    await fork.press('#search', 'Enter');
    assert.strictEqual(await status(fork), '1 traveller forks 1.1 traveller');
    await fork.click('#last');
    assert.match(await output(fork), /left: 20 miles\n(.*\n)*right: 2 miles\n/);
    assert.match(await fork.textContent('#source'), /^1.*# 9\. /);
    const alone = await open('00_a_want.html');  // handlers, and no scheduler
    assert.strictEqual(await status(alone), 'the program performs road_map::distance');
    assert.match(await alone.textContent('#source .now'), /co_await road_map::distance/);
    assert.strictEqual(await alone.textContent('#handlers .answers'), 'small_town answers');
    assert.ok(!/scheduler/.test(await alone.textContent('#handlers')));
    const lost = await open('07_every_schedule.html');
    assert.match(await lost.textContent('#schedules h3'), /failed/);
    await lost.click('#last');
    assert.match(await lost.textContent('#source .now'), /co_await/);
  },

  async 'each control has a name, and the look can be changed'() {
    const page = await open('pipeline.html');
    const unnamed = await page.$$eval('button, input, select, section, canvas', all =>
      all.filter(e => !e.getAttribute('aria-label') && !e.textContent.trim() && !e.closest('label')).length);
    assert.strictEqual(unnamed, 0);
    assert.strictEqual(await page.getAttribute('#status', 'aria-live'), 'polite');
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await background();
    await page.click('#look');
    assert.notStrictEqual(await background(), before);
  },

  async 'a narrow page does not scroll sideways'() {
    const page = await open('pipeline.html', {viewport: {width: 360, height: 740}});
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
  },

  async 'a page of a million events opens, and jumps'() {
    const page = await open('million.html');
    const size = fs.statSync(`${folder}/million.html`).size;
    console.log(`  ${await page.textContent('#count')} events, ${(size / 1e6).toFixed(1)} MB, ` +
                `opened in ${(page.opened_in / 1000).toFixed(2)} s`);
    const begin = performance.now();
    await page.keyboard.press('End');
    assert.match(await status(page), /ends/);
    await page.fill('#jump', '500000');
    await page.press('#jump', 'Enter');
    assert.ok(await page.locator('#queue .box').count() > 50);
    console.log(`  two jumps in ${(performance.now() - begin).toFixed(0)} ms`);
  },

  async 'a picture is small enough for README'() {
    const page = await open('hello.html', {viewport: {width: 1280, height: 820}, colorScheme: 'light'});
    await page.fill('#search', 'performs console::print_line "4"');
    await page.press('#search', 'Enter');
    await page.fill('#search', '');
    await page.locator('#search').blur();
    const image = await page.screenshot();
    assert.ok(image.length < 200_000, `${image.length} bytes`);
    if (picture !== '/dev/null') fs.writeFileSync(picture, image);
  },
};

harness.run(tests);
