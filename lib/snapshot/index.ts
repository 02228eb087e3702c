/* Takes snapshots: begins, takes, resumes and publishes runs, in this process or as a durable execution, and prunes them. */

export { afterStepFailure } from './durable/after-step-failure.ts';
export {
  type DurableRunOptions,
  type DurableSteps,
  type RunEnd,
  type SnapshotAndFollowers,
  takeDurableSnapshot,
  timesOf,
} from './durable/durable-snapshot.ts';
export { openCheckpointClient, openExecutions, type StartExecution } from './durable/executions.ts';
export { clearAfter } from './history/clear-work.ts';
export { findPublished } from './history/find-published.ts';
export { planPrunes, type RunToPrune } from './history/plan-prune.ts';
export { pruneRuns } from './history/prune-runs.ts';
export { isNamedAfter, placesToTake } from './history/request-again.ts';
export { type Publication, publishRun, readFinishedRun } from './publish/publish.ts';
export { beginRun, KnownRefusalError, scanOfRun } from './run/begin-run.ts';
export { readCheckpoint } from './run/checkpoint.ts';
export { findStopped, resumeRun } from './run/resume-run.ts';
export { takeRun } from './run/take-run.ts';
export type { Saved } from './run/take-slice.ts';
export { OtherPlatformError } from './same-platform.ts';
