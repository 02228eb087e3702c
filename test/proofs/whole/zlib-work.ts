import { Gzip } from 'node:zlib';

type Transform = (
  this: unknown,
  chunk: unknown,
  encoding: string,
  done: (...ended: unknown[]) => void,
) => void;

/** What all streams of zlib share, where each chunk passes on its way to a thread. */
const shared: { _transform: Transform } = Object.getPrototypeOf(Object.getPrototypeOf(Gzip.prototype));

let chunks = 0;
let users = 0;
const original = shared._transform;

/**
 * Counts the chunks that threads of zlib work on, so that no virtual time passes meanwhile: how fast this machine is
 * must not decide what happens in a schedule.
 */
export function countZlibWork() {
  users += 1;
  if (users === 1)
    shared._transform = function counted(chunk, encoding, done) {
      chunks += 1;
      original.call(this, chunk, encoding, (...ended) => {
        chunks -= 1;
        done(...ended);
      });
    };
  return {
    isBusy: () => chunks > 0,
    stop() {
      users -= 1;
      if (users === 0) shared._transform = original;
    },
  };
}
