/* Takes snapshots: begins, resumes, publishes and prunes runs, in this process or as a durable execution. */

export {
  afterStepFailure,
  type DurableRunOptions,
  type DurableSteps,
  openExecutions,
  type StartExecution,
  takeDurableSnapshot,
  timesOf,
} from './durable/durable-snapshot.ts';
export { clearPublishedWork, planPrunes, pruneRuns } from './history/prune.ts';
export { isNamedBySelection, placesToTake } from './history/request-again.ts';
export { OtherPlatformError } from './publish/gates.ts';
export { type Publication, publishRun, readFinishedRun } from './publish/publish.ts';
export { beginRun, KnownRefusalError, scanOfRun } from './run/begin-run.ts';
export { readCheckpoint } from './run/checkpoint.ts';
export { findPublished, findStopped, resumeRun } from './run/resume-run.ts';
export { type Saved, takeRun } from './run/take-run.ts';
