import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules of axe-core: all; those about colours; all others. */
export type Rules = 'all' | 'colours' | 'others';

const RUN_OPTIONS: Readonly<Record<Rules, RunOptions>> = {
  all: {},
  colours: { runOnly: ['cat.color'] },
  others: { rules: { 'color-contrast': { enabled: false }, 'link-in-text-block': { enabled: false } } },
};

/** What axe-core finds wrong with a page, by its own rules and best practices, and where. A line each. */
export async function findingsOf(page: Page, rules: Rules): Promise<readonly string[]> {
  // Evaluated by the debugger, so the page's policy, which holds for its own scripts, stays as it is.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe);
  const options = JSON.stringify({ resultTypes: ['violations'], ...RUN_OPTIONS[rules] });
  const results = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}
