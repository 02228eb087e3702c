import type PQueue from 'p-queue';
import type { FairOrder, Share } from './fair-order.ts';

/**
 * The signal can leave the queue only while the task waits: a queue that has the signal itself starts the next task
 * though an aborted one has not ended. Without a `place`, first come, first served.
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
