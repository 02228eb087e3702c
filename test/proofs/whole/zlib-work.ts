import { Gzip } from 'node:zlib';

type Transform = (
  this: unknown,
  chunk: unknown,
  encoding: string,
  ended: (...result: unknown[]) => void,
) => void;

/** The prototype of all zlib streams. Each chunk passes its `_transform` on the way to a thread. */
const shared: { _transform: Transform } = Object.getPrototypeOf(Object.getPrototypeOf(Gzip.prototype));

let chunks = 0;
let done = Promise.withResolvers<void>();
let users = 0;
const original = shared._transform;

/**
 * Tracks the chunks that zlib threads are working on, so that no virtual time passes meanwhile: the speed of the
 * machine must not affect a schedule.
 */
export function watchZlib() {
  users += 1;
  if (users === 1)
    shared._transform = function counted(chunk, encoding, ended) {
      if (chunks === 0) done = Promise.withResolvers();
      chunks += 1;
      original.call(this, chunk, encoding, (...result) => {
        chunks -= 1;
        if (chunks === 0) done.resolve();
        ended(...result);
      });
    };
  return {
    /** Resolves when the current work has ended; undefined if nothing is under way. */
    underWay: () => (chunks > 0 ? done.promise : undefined),
    stop() {
      users -= 1;
      if (users === 0) shared._transform = original;
    },
  };
}
