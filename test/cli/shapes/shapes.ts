import type * as z from 'zod/mini';
import * as job from './job-shapes.ts';
import * as other from './other-shapes.ts';
import { report } from './report-shape.ts';
import * as run from './run-shapes.ts';
import { whereUsed } from './where-used-shape.ts';

/** What each command prints with `--json`, by the words that name the command; docs/schemas has them as JSON Schema. */
export const shapes: Readonly<Record<string, z.ZodMiniType>> = {
  snapshot: run.publication,
  publish: run.publication,
  runs: run.runs,
  diff: run.diff,
  'where-used': whereUsed,
  prune: run.prune,
  tables: run.tables,
  query: other.query,
  report,
  score: job.score,
  batches: job.batches,
  forget: job.forget,
  call: other.call,
  'formula set': other.formulaSet,
  'formula log': other.formulaLog,
  'formula check': other.formulaCheck,
  run: job.run,
  submit: job.submit,
  work: job.work,
  jobs: job.jobs,
  'jobs cancel': job.jobsCancel,
  'jobs resolve': job.jobsResolve,
  'jobs results': job.jobsResults,
  redrive: job.redrive,
  pace: other.pace,
  doctor: other.doctor,
  sandbox: other.sandbox,
  error: other.failure,
};
