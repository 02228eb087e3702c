import type { Tool } from './tool.ts';
import { changes } from './tools/changes.ts';
import { formulaCheck } from './tools/formula-check.ts';
import { get } from './tools/get.ts';
import { jobs } from './tools/jobs.ts';
import { query } from './tools/query.ts';
import { runs } from './tools/runs.ts';
import { score } from './tools/score.ts';
import { search } from './tools/search.ts';
import { submit } from './tools/submit.ts';
import { whereUsed } from './tools/where-used.ts';

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
export const submittingTools = {
  submit,
  score,
} as const satisfies Readonly<Record<string, Tool>>;
