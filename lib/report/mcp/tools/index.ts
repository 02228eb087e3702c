import type { Tool } from '../tool.ts';
import { changes } from './changes.ts';
import { formulaCheck } from './formula-check.ts';
import { get } from './get.ts';
import { jobs } from './jobs.ts';
import { query } from './query.ts';
import { runs } from './runs.ts';
import { search } from './search.ts';
import { score, submit } from './submit.ts';
import { whereUsed } from './where-used.ts';

/** The tools that only read, by their names. */
export const readingTools = {
  runs,
  search,
  get,
  where_used: whereUsed,
  changes,
  query,
  formula_check: formulaCheck,
  jobs,
} as const satisfies Readonly<Record<string, Tool>>;

/** The tools that also send jobs, for a server that may. */
export const submittingTools = { submit, score } as const satisfies Readonly<Record<string, Tool>>;
