import type { Readable } from 'node:stream';
import { gatherBytes } from '../base/index.ts';
import { StoreError } from './error.ts';

/** How long S3 may pause in the middle of a body, in milliseconds. The client's own limit covers only the head. */
export const MOST_PAUSE_MS = 60_000;

/** Throws ETIMEDOUT if none arrive for `mostPauseMs` while the reader waits for them. */
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

/** Throws a `too-large` StoreError above `mostBytes`, before any is read if S3 reports the size. */
export async function wholeBody(
  { body, sizeBytes }: { readonly body: Readable; readonly sizeBytes: number | undefined },
  limits: { readonly tried: string; readonly mostBytes: number; readonly mostPauseMs: number },
): Promise<Buffer> {
  const { tried, mostBytes, mostPauseMs } = limits;
  function refuseMore(bytes: number): void {
    if (bytes <= mostBytes) return;
    body.destroy();
    throw new StoreError(tried, { kind: 'too-large', mostBytes, sizeBytes: bytes });
  }
  refuseMore(sizeBytes ?? 0);
  const gathered = gatherBytes(sizeBytes);
  for await (const chunk of bytesOf(body, mostPauseMs)) {
    refuseMore(gathered.sizeBytes() + chunk.byteLength);
    gathered.add(chunk);
  }
  return gathered.bytes();
}
