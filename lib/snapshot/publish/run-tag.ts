/**
 * The tag of the objects of a published run: the lifecycle of runs expires those that have it with `REPLACED`. Runs
 * that were published by an earlier version have none.
 */
export const RUN_TAG = 'platform-sync-run';

/** `latest.json` has moved past the run. */
export const REPLACED = 'replaced';

/** `latest.json` was moved back to a run that had been replaced. */
export const LATEST_AGAIN = 'latest';
