import PQueue from 'p-queue';

/**
 * Bounds how many texts of one process wait for their slot at the pace. All of them waiting there at once would make
 * each other's waits too long; waiting here costs nothing. The chunk that came first goes first: few chunks are half
 * done at any time.
 */
export type TextGate = {
  /** A chunk's way through the gate. */
  readonly enter: () => Enter;
};

/**
 * Makes an attempt when there is room at the pace; the room is free again once the attempt has called `leave`, or ends.
 * Throws what the attempt throws, and the reason of the signal if it is aborted before the attempt starts.
 */
type Enter = <T>(attempt: (leave: () => void) => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Two: while one call takes its slot, the next one is there to reserve another. */
const MOST_WAITING = 2;

export function createTextGate(mostWaiting = MOST_WAITING): TextGate {
  const waiting = new PQueue({ concurrency: mostWaiting });
  let chunks = 0;
  return {
    enter() {
      chunks += 1;
      const priority = -chunks;
      return (attempt, signal) =>
        new Promise((resolve, reject) => {
          let hasStarted = false;
          const start = () => {
            hasStarted = true;
            return new Promise<void>((leave) => {
              attempt(leave).then(resolve, reject).finally(leave);
            });
          };
          waiting.add(start, { priority, signal }).catch((error: unknown) => {
            // An attempt that has started ends by itself: its call may have left.
            if (!hasStarted) reject(error);
          });
        });
    },
  };
}
