import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { ReportFacts } from '../../lib/report/facts.ts';
import { printPage } from '../../lib/report/print-report.ts';
import { findBrowser } from './find-browser.ts';

/** Options that turn off background activity of the browser: no updates, and no requests except those of the page. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a browser with an empty profile, in a new folder. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('expected a browser: npm run test:browser installs one');
  return await chromium.launch({ executablePath, args: FLAGS });
}

/** Writes the report of these facts to a file, and returns its address. `[Symbol.dispose]` deletes it. */
export async function writeReport(facts: ReportFacts) {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-report-'));
  const file = join(folder, 'report.html');
  const html = await printPage(facts);
  writeFileSync(file, html);
  return { html, url: pathToFileURL(file).href, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** A page, and its forbidden actions: requests other than for itself, console errors, dialogs. One line each. */
export type Watched = { readonly page: Page; readonly misdeeds: readonly string[] };

/** Opens a report, and waits until it is shown. */
export async function openReport(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  const misdeeds: string[] = [];
  page.on('request', (request) => {
    const asked = request.url().split('#')[0] ?? '';
    if (asked !== url.split('#')[0] && !asked.startsWith('data:')) misdeeds.push(`asked for ${asked}`);
  });
  page.on('console', (message) => misdeeds.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => misdeeds.push(`threw ${error.message}`));
  page.on('dialog', async (dialog) => {
    misdeeds.push(`opened a dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.goto(url);
  await page.locator('main h2').filter({ visible: true }).first().waitFor();
  return { page, misdeeds };
}
