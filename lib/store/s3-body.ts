import type { Readable } from 'node:stream';

/** How long S3 may pause in the middle of a body, in milliseconds. The client's own limit covers only the head. */
export const MOST_PAUSE_MS = 60_000;

/**
 * A body's bytes as they arrive. Throws, with Node's code ETIMEDOUT, if none arrive for `mostPauseMs` while the reader
 * waits for them: the reader's own pauses do not count.
 */
export async function* bytesOf(body: Readable, mostPauseMs: number): AsyncGenerator<Uint8Array> {
  const giveUp = () =>
    body.destroy(Object.assign(new Error(`no bytes for ${mostPauseMs} ms`), { code: 'ETIMEDOUT' }));
  let timer = setTimeout(giveUp, mostPauseMs);
  try {
    for await (const chunk of body) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(giveUp, mostPauseMs);
    }
  } finally {
    clearTimeout(timer);
  }
}
