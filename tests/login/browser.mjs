// usage: node browser.mjs MODULES URL
//
// A person in front of a headless Chromium: opens the page, logs in as "alice", agrees to whatever
// is asked, and prints what the last page says.

import { pathToFileURL } from 'node:url';

const [modules, url] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/${path}`));
const { default: chromium } = await load('@sparticuz/chromium/build/esm/index.js');
const { default: puppeteer } = await load('puppeteer-core/lib/esm/puppeteer/puppeteer-core.js');

const browser = await puppeteer.launch({
  args: chromium.args,
  executablePath: await chromium.executablePath(),
  headless: 'shell',
});
try {
  const page = await browser.newPage();
  // Some pages send themselves on.
  const settled = { waitUntil: 'networkidle0' };
  await page.goto(url, settled);
  for (let pages = 0; pages < 8; pages += 1) {
    const button = await page.$('button[type=submit]');
    if (!button) break;
    const name = await page.$('input[name=login]');
    if (name) {
      await name.type('alice');
      await page.type('input[name=password]', 'a password');
    }
    await Promise.all([page.waitForNavigation(settled), button.click()]);
  }
  console.log(await page.evaluate(() => document.body.innerText));
} finally {
  await browser.close();
}
