import { Gzip } from 'node:zlib';

type Transform = (
  this: unknown,
  chunk: unknown,
  encoding: string,
  ended: (...result: unknown[]) => void,
) => void;

/** What all streams of zlib share, where each chunk passes on its way to a thread. */
const shared: { _transform: Transform } = Object.getPrototypeOf(Object.getPrototypeOf(Gzip.prototype));

let chunks = 0;
let done = Promise.withResolvers<void>();
let users = 0;
const original = shared._transform;

/**
 * Watches the chunks that threads of zlib work on, so that no virtual time passes meanwhile: how fast this machine is
 * must not decide what happens in a schedule.
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
    /** Until it has ended; undefined if nothing is being worked on. */
    underWay: () => (chunks > 0 ? done.promise : undefined),
    stop() {
      users -= 1;
      if (users === 0) shared._transform = original;
    },
  };
}
