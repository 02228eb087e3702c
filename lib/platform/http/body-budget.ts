import { EventEmitter, once } from 'node:events';

/**
 * Bounds the memory of the bodies that are being received: once it is used up a body waits, and so does its sender. One
 * at a time may take more than there is, so memory holds the budget and at most one body of the largest size.
 */
export type BodyBudget = {
  readonly open: () => BodyShare;
};

export type BodyShare = {
  /** Takes so many bytes more, once there is room. Throws when the signal is aborted. */
  readonly take: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
};

/** More than the pages of calculations that a scan has under way. */
const MOST_BYTES = 32 * 1024 * 1024;

/** What each body has beside the budget: most are smaller, and never wait for a large one. */
const FREE_BYTES = 1024 * 1024;

export function createBodyBudget(mostBytes = MOST_BYTES, freeBytes = FREE_BYTES): BodyBudget {
  const closed = new EventEmitter().setMaxListeners(0);
  let usedBytes = 0;
  let over: object | undefined;
  return {
    open() {
      const own = { freeBytes, bytes: 0 };
      return {
        async take(bytes, signal) {
          const counted = Math.max(0, bytes - own.freeBytes);
          own.freeBytes -= bytes - counted;
          while (counted > 0 && own !== over && usedBytes + counted > mostBytes) {
            if (over === undefined) over = own;
            else await once(closed, 'body', { signal });
          }
          usedBytes += counted;
          own.bytes += counted;
        },
        close() {
          usedBytes -= own.bytes;
          own.bytes = 0;
          if (over === own) over = undefined;
          closed.emit('body');
        },
      };
    },
  };
}
