import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFacts } from '../report/make-facts.ts';
import { openReport, startBrowser, writeReport } from './open-report.ts';

let browser: Browser;
let report: Awaited<ReturnType<typeof writeReport>>;

beforeAll(async () => {
  browser = await startBrowser();
  report = await writeReport(await makeFacts({ calculations: 300, cards: 60, datasets: 12 }));
});

afterAll(async () => {
  report[Symbol.dispose]();
  await browser.close();
});

/** The text or label of the element with the focus. */
const focused = async (page: Page): Promise<string> =>
  String(
    await page.evaluate(
      '(document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? "").trim()',
    ),
  );

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab');
    if (name.test(await focused(page))) return;
  }
  throw new Error(`expected to come to ${name} by Tab, came to ${await focused(page)}`);
}

test('everything can be reached and used with the keyboard alone', async () => {
  const { page, misdeeds } = await openReport(browser, report.url);

  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await tabTo(page, /^Calculations/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Calculations', exact: true, level: 2 }).waitFor();

  // The focus is now at the beginning of the chosen view.
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Search calculations');
  await page.keyboard.type('margin');
  await page.getByText(/^\d+ calculations of 300$/).waitFor();
  await tabTo(page, /^unused$/);
  await page.keyboard.press('Space');
  await page.locator('button[aria-pressed=true]', { hasText: 'unused' }).waitFor();
  expect(await focused(page)).toBe('unused');
  await page.keyboard.press('Space');
  await tabTo(page, /^Status$/);
  await page.keyboard.press('ArrowDown');
  await page
    .getByLabel('Status')
    .evaluate('async (select) => { while (select.value === "") await new Promise(requestAnimationFrame); }');
  expect(await focused(page)).toBe('Status');
  await page.keyboard.press('ArrowUp');
  await tabTo(page, /^Last changed from$/);
  await page.keyboard.type('01012024');
  await page.getByText('Save as CSV').waitFor();
  await tabTo(page, /^Id/);
  await page.keyboard.press('Enter');
  await page.locator('th[aria-sort=ascending]', { hasText: 'Id' }).waitFor();
  expect(await focused(page)).toMatch(/^Id/);

  await tabTo(page, /^Margin/);
  const name = await focused(page);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name }).waitFor();
  await tabTo(page, /^what it uses$/);
  await page.keyboard.press('Enter');
  await page.getByText(/^It depends on/).waitFor();
  await tabTo(page, /^Picture by hops$/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.matches("svg a.box")')).toBe(true);

  // A headless browser ignores its own keys, such as Alt+Left.
  await page.goBack();
  await page.getByRole('button', { name: 'what uses it', pressed: true }).waitFor();
  await page.goBack();
  await page.locator('h2', { hasText: 'Calculations' }).filter({ visible: true }).waitFor();
  expect(misdeeds).toEqual([]);
  await page.context().close();
});
