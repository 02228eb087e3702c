import type PQueue from 'p-queue';

/**
 * Runs a task in a queue, which the signal can leave only while it waits. A queue that has the signal itself starts the
 * next task as soon as a running one is aborted, though that one has not ended. Throws the signal's reason, or what the
 * task throws.
 */
export async function enqueue<T>(
  queue: PQueue,
  task: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return queue.add(task);
  signal.throwIfAborted();
  const waiting = new AbortController();
  const leave = () => waiting.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  const stay = () => signal.removeEventListener('abort', leave);
  try {
    return await queue.add(
      () => {
        stay();
        return task();
      },
      { signal: waiting.signal },
    );
  } finally {
    stay();
  }
}
