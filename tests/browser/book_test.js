// SPDX-License-Identifier: MIT
// node book_test.js FOLDER: opens the site of the book in FOLDER from the disk, and uses it.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const harness = require('./harness.js');

const [folder] = process.argv.slice(2);
const open = (name, options) => harness.open(`${folder}/${name}`, options);
// Not those that show a file, and those of programs, which have a test of their own.
const pages = fs.readdirSync(folder, {recursive: true})
  .filter(f => f.endsWith('.html') && !/^(source|pages)\//.test(f));

harness.run({
  async 'the search box finds when_any'() {
    const page = await open('index.html');
    await page.fill('.sidebar-search', 'when_any');
    await page.press('.sidebar-search', 'Enter');
    await page.waitForSelector('#search-results li a');
    await page.click('#search-results li a');
    assert.match(await page.textContent('article'), /when_any/);
  },

  async 'chapter 1 opens, and leads on, and back'() {
    const page = await open('index.html');
    await page.click('nav a[href^="01_"], .sidebar-tree a[href^="01_"]');
    assert.match(await page.textContent('h1'), /^1\. /);
    await page.click('.next-page');
    assert.match(await page.textContent('h1'), /^2\. /);
    await page.click('.prev-page');
    assert.match(await page.textContent('h1'), /^1\. /);
    assert.strictEqual(await page.locator('.edit-this-page a[href$="docs/01_an_effect_of_your_own.md"]').count(), 1);
  },

  async 'a program leads to the page on which its run is stepped through'() {
    const page = await open('09_two_futures.html');
    assert.match(await page.textContent('.output'), /at the crossroads/);
    await page.click('p.step a');
    await page.waitForFunction(() => document.getElementById('status').textContent !== '');
    await page.click('#last');
    assert.match(await page.textContent('#output'), /left: 20 miles/);
  },

  async 'no page has an error, or is wider than a telephone'() {
    const page = await open('index.html', {viewport: {width: 360, height: 740}});
    const wide = [];
    for (const name of pages) {
      await page.goto(`file://${folder}/${name}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 360) wide.push(`${name}: ${width}`);
    }
    assert.deepStrictEqual(wide, []);
    assert.ok(pages.length > 100, String(pages.length));
  },

  async 'the look is that of the system, and can be changed'() {
    const background = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await open('index.html', {colorScheme: 'light'}), dark = await open('index.html', {colorScheme: 'dark'});
    assert.notStrictEqual(await background(light), await background(dark));
    const before = await background(light);
    await light.locator('.theme-toggle:visible').first().click();
    await light.waitForFunction(b => getComputedStyle(document.body).backgroundColor !== b, before, {timeout: 3000});
  },
});
