import type PQueue from 'p-queue';
import type { FairOrder, Share } from './fair-order.ts';

/**
 * Runs a task in a queue, which the signal can leave only while it waits. A queue that has the signal itself starts the
 * next task as soon as a running one is aborted, though that one has not ended. Throws the signal's reason, or what the
 * task throws. `place`: the order of the queue, and the share of this task in it; without one, first come, first served.
 */
export async function enqueue<T>(
  queue: PQueue,
  task: () => Promise<T>,
  signal: AbortSignal | undefined,
  place?: { readonly order: FairOrder; readonly share: Share },
): Promise<T> {
  const atTime = place?.order.arrive(place.share) ?? 0;
  const start = () => {
    place?.order.serve(atTime);
    return task();
  };
  // Earlier times first; p-queue takes the highest priority first.
  const priority = -atTime;
  if (signal === undefined) return queue.add(start, { priority });
  signal.throwIfAborted();
  const waiting = new AbortController();
  const leave = () => waiting.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  const stay = () => {
    signal.removeEventListener('abort', leave);
    return start();
  };
  return await queue.add(stay, { signal: waiting.signal, priority });
}
