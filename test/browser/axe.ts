import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds wrong with a page, by its own rules and best practices, and where. A line each. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, so the page's policy for its own scripts is unchanged.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe);
  const results = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })');
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}
