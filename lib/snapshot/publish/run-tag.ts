/** The tag of the objects of a published run: the lifecycle of runs expires those that have it with `REPLACED`. */
export const RUN_TAG = 'platform-sync-run';

/** The run is not the newest of its place. */
export const REPLACED = 'replaced';

/** The run was replaced, and is the newest again. */
export const LATEST_AGAIN = 'latest';
