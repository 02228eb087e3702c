import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RowsError } from './rows-error.ts';

/** Bytes that can be looked at before they are read. */
export type SourceBytes = {
  /** At least the first `sizeBytes`, or all there are. */
  readonly head: Uint8Array;
  /** All of them, including the head. */
  readonly all: () => AsyncGenerator<Uint8Array>;
};

/** The bytes of a source, decompressed if the first two say gzip, with the first `sizeBytes` available. */
export async function openSource(
  bytes: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): Promise<SourceBytes & AsyncDisposable> {
  const raw = await peek(bytes, 2);
  if (raw.head[0] !== 0x1f || raw.head[1] !== 0x8b) return await peek(raw.all(), sizeBytes);
  return await peek(gunzipped(raw.all()), sizeBytes);
}

async function peek(
  bytes: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): Promise<SourceBytes & AsyncDisposable> {
  const iterator = bytes[Symbol.asyncIterator]();
  const close = async () => void (await iterator.return?.());
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size < sizeBytes) {
    const next = await iterator.next();
    if (next.done) break;
    pieces.push(next.value);
    size += next.value.byteLength;
  }
  async function* all() {
    try {
      yield* pieces;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await close();
    }
  }
  return { head: Buffer.concat(pieces), all, [Symbol.asyncDispose]: close };
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: true, highWaterMark: 1 });
  // `pipeline` requires a callback; the failure is thrown by the loop.
  const unpacked = pipeline(source, createGunzip(), () => {});
  try {
    for await (const piece of unpacked) yield piece as Uint8Array;
  } catch (error) {
    if (!isOfZlib(error)) throw error;
    throw new RowsError({ kind: 'gzip', got: error.message }, { cause: error });
  }
}

const isOfZlib = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
