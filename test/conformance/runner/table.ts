import type { Run } from '../suites/suites.ts';
import type { Verdict } from './judge.ts';

/** How a run ended: its tests were judged, or it could not begin. */
export type Outcome = (Verdict & { readonly durationMs: number }) | { readonly notRun: string };

export type Row = { readonly suite: string; readonly run: Run; readonly outcome: Outcome };

const HEAD = ['suite', 'engine', 'version', 'tests', 'passed', 'known differences', 'time'] as const;

/** One Markdown table of all runs. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [HEAD, HEAD.map(() => '---'), ...rows.map(cellsOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A line for each run that could not begin, with the reason: `not run: SUITE on ENGINE: REASON`. */
export const notRunIn = (rows: readonly Row[]): readonly string[] =>
  rows.flatMap(({ suite, run, outcome }) =>
    'notRun' in outcome ? [`not run: ${suite} on ${engineOf(run)}: ${oneLine(outcome.notRun)}`] : [],
  );

/** `N passed, N failed`, over all runs. */
export const totalOf = (rows: readonly Row[]): { readonly passed: number; readonly failed: number } => ({
  passed: rows.reduce((sum, { outcome }) => sum + ('passed' in outcome ? outcome.passed : 0), 0),
  failed: rows.reduce((sum, { outcome }) => sum + ('failed' in outcome ? outcome.failed : 0), 0),
});

/** The engines of a run as its row and the known differences name them. */
export const engineOf = ({ engines }: Run): string => engines.map(({ name }) => name).join(' + ');

function cellsOf({ suite, run, outcome }: Row): readonly string[] {
  const versions = run.engines.map(({ version }) => version).join(' + ');
  const named = [suite, engineOf(run), versions];
  if ('notRun' in outcome) return [...named, `not run: ${oneLine(outcome.notRun)}`, '', '', ''];
  const { tests, passed, knownDifferences, durationMs } = outcome;
  return [...named, `${tests}`, `${passed}`, `${knownDifferences}`, `${Math.round(durationMs / 1_000)} s`];
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '/');
