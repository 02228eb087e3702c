/**
 * Bounds the memory of the bodies that are being received, over all calls that share it. A body takes bytes as it
 * arrives. Once they are used up it waits, and so does the sender, until another body has been read; but one body at a
 * time may take more than there is, so that there is always one that gets on. Memory holds the budget, and beyond it at
 * most one body of the largest size. What becomes of a body after it was read is up to whoever called.
 */
export type BodyBudget = {
  /** A share for one body. */
  readonly open: () => BodyShare;
};

export type BodyShare = {
  /**
   * Takes so many bytes more: undefined if there is room, else a promise that resolves once there is. It rejects with
   * the signal's reason.
   */
  readonly take: (bytes: number, signal: AbortSignal) => Promise<void> | undefined;
  /** Gives everything back. */
  readonly close: () => void;
};

/** More than the pages of calculations that a scan has under way. */
const MOST_BYTES = 32 * 1024 * 1024;

/** What each body has beside the budget: most are smaller, and never wait for a large one. */
const FREE_BYTES = 1024 * 1024;

type Taken = { freeBytes: number; bytes: number };
type Waiting = { readonly taken: Taken; readonly bytes: number; readonly admit: () => void };

export function createBodyBudget(mostBytes = MOST_BYTES, freeBytes = FREE_BYTES): BodyBudget {
  let usedBytes = 0;
  /** The body that has more than there is. */
  let over: Taken | undefined;
  /** Oldest first. */
  const waiting: Waiting[] = [];

  function admits(taken: Taken, bytes: number): boolean {
    if (taken !== over && usedBytes + bytes > mostBytes) {
      if (over !== undefined) return false;
      over = taken;
    }
    usedBytes += bytes;
    taken.bytes += bytes;
    return true;
  }

  function admitWaiting(): void {
    for (let [next] = waiting; next !== undefined && admits(next.taken, next.bytes); [next] = waiting) {
      waiting.shift();
      next.admit();
    }
  }

  return {
    open() {
      const taken: Taken = { freeBytes, bytes: 0 };
      return {
        take(bytes, signal) {
          const counted = Math.max(0, bytes - taken.freeBytes);
          taken.freeBytes -= bytes - counted;
          if (counted === 0) return undefined;
          // Whoever waits goes first, except that it waits for the one that is over.
          if ((waiting.length === 0 || taken === over) && admits(taken, counted)) return undefined;
          return waitIn(waiting, { taken, bytes: counted }, signal);
        },
        close() {
          usedBytes -= taken.bytes;
          taken.bytes = 0;
          if (over === taken) over = undefined;
          admitWaiting();
        },
      };
    },
  };
}

/** Waits at the end of the queue until it is admitted, or leaves it when the signal is aborted. */
async function waitIn(queue: Waiting[], wanted: Omit<Waiting, 'admit'>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve: admit, reject } = Promise.withResolvers<void>();
  const waiting = { ...wanted, admit };
  const leave = () => {
    const at = queue.indexOf(waiting);
    if (at >= 0) queue.splice(at, 1);
    reject(signal.reason);
  };
  signal.addEventListener('abort', leave, { once: true });
  queue.push(waiting);
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
