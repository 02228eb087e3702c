import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { makeFacts } from '../report/make-facts.ts';
import { findingsOf } from './axe.ts';
import { openReport, startBrowser, writeReport } from './open-report.ts';

/** Each part of the page, in a state that shows all its elements. */
const STATES = [
  'health',
  'changes',
  'where-used?q=margin&id=dataset:90001',
  'where-used?id=calculation:1001&way=uses',
  'batches',
  'jobs',
  'broken',
  'owners',
  'owned?owner=41&flag=affected',
  'calculations?flag=broken_links&owner=41&modified.from=2024-01-01',
  'cards?q=revenue&page=2',
  'datasets',
  'files',
  'data-files',
];

let browser: Browser;
let report: Awaited<ReturnType<typeof writeReport>>;

beforeAll(async () => {
  browser = await startBrowser();
  report = await writeReport(await makeFacts({ calculations: 40, cards: 55, datasets: 6 }));
});

afterAll(async () => {
  report[Symbol.dispose]();
  await browser.close();
});

// The tests are concurrent: each page has its own browser process.
describe.concurrent.each([
  ['light', 1360],
  ['dark', 1360],
  ['light', 360],
] as const)('the %s page, %d px wide:', (colorScheme, width) => {
  test('axe-core finds no fault in any part, and nothing scrolls sideways', async ({ expect }) => {
    const { page, misdeeds } = await openReport(browser, report.url, {
      colorScheme,
      viewport: { width, height: 900 },
    });

    const found = new Set<string>();
    for (const state of STATES) {
      await page.evaluate(`location.hash = ${JSON.stringify(state)}`);
      await page.locator('main h2').filter({ visible: true }).first().waitFor();
      await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');

      for (const finding of await findingsOf(page)) found.add(`${state}: ${finding}`);
      if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
        found.add(`${state} is too wide`);
    }

    expect([...found, ...misdeeds]).toEqual([]);
    await page.context().close();
  });
});
