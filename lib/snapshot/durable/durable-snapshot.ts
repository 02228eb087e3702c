import type { SnapshotRequest } from '../sources/request.ts';
import { type DurableRunOptions, type EndedRun, takeDurableRun } from './durable-run.ts';
import type { DurableSteps } from './durable-steps.ts';

/** A snapshot, and those taken once it is published: cards, whose datasets come from the calculations. */
export type SnapshotAndFollowers = {
  readonly request: SnapshotRequest;
  readonly followers: readonly SnapshotRequest[];
};

/** How the run ended. `followers` says how each of them ended, and is absent if none was taken. */
export type EndedSnapshot = EndedRun & { readonly followers?: readonly EndedRun[] };

/**
 * Takes a run and then, only if it was published, its followers one after another: what they need from it is there by
 * then. After a refused or superseded run the followers are skipped: they would read the run before it, or belong to
 * the later one. A follower that is stopped does not prevent the next; the error reports all of them.
 */
export async function takeDurableSnapshot(
  { request, followers }: SnapshotAndFollowers,
  steps: DurableSteps,
  options: DurableRunOptions,
): Promise<EndedSnapshot> {
  const ended = await takeDurableRun(request, steps, options);
  if (ended.kind !== 'published' || followers.length === 0) return ended;
  const endedAfter: EndedRun[] = [];
  const stopped: unknown[] = [];
  for (const follower of followers) {
    try {
      endedAfter.push(await takeDurableRun(follower, steps, options));
    } catch (error) {
      stopped.push(error);
    }
  }
  if (stopped.length === 0) return { ...ended, followers: endedAfter };
  const reasons = stopped.map((error) => (error instanceof Error ? error.message : String(error))).join('; ');
  throw new AggregateError(stopped, `run ${ended.run} of ${ended.place} was published, but ${reasons}`);
}
