// SPDX-License-Identifier: MIT
// What the tests of pages share: a browser, in which an error on a console fails the test, and a request that leaves
// the disk.
'use strict';
const assert = require('node:assert');
const {chromium} = require('playwright-core');

let browser;

async function open(file, options = {}) {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}, ...options});
  page.on('pageerror', error => { throw error; });
  page.on('console', message => assert.notStrictEqual(message.type(), 'error', `${message.text()} ${message.location().url}`));
  page.on('request', request => assert.match(request.url(), /^(file|data):/));
  await page.goto(`file://${file}`);
  return page;
}

async function run(tests) {
  browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`passed: ${name}`);
    } catch (error) {
      ++failed;
      console.log(`FAILED: ${name}\n${error.stack}`);
    }
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
}

module.exports = {open, run};
