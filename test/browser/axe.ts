import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations that axe-core finds on a page, by its rules and best practices, with their places. One line each. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  // The script is evaluated through the debugger, so the page's content security policy is unchanged.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe);
  const results = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })');
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}
