import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { Store } from '../store/store.ts';
import { type Compression, partName } from './keys.ts';
import type { Part } from './manifest.ts';
import type { RecordBatch } from './record-batch.ts';

export type PartWriterOptions = {
  readonly store: Store;
  /** Where parts go; ends in a slash. */
  readonly folder: string;
  readonly compression: Compression;
};

/**
 * Writes batches of records into one part at a time. Memory holds one compressed part: its name ends in its sha256,
 * so it is stored once it is whole.
 */
export function createPartWriter({ store, folder, compression }: PartWriterOptions) {
  let open: OpenPart | undefined;
  return {
    /** Adds records in their order; resolves once the batch before them has been compressed: one may be under way. */
    async write(batch: RecordBatch): Promise<void> {
      if (batch.keys.length === 0) return;
      open ??= openPart(compression);
      await open.write(batch);
    },
    /** Bytes that the open part has been compressed to so far. */
    compressedBytes: () => open?.compressedBytes() ?? 0,
    /** Stores the open part under its number, and answers it; undefined if nothing was written. */
    async close(index: number): Promise<Part | undefined> {
      if (open === undefined) return undefined;
      const { body, ...counted } = await open.end();
      open = undefined;
      const sha256 = createHash('sha256').update(body).digest('hex');
      const key = `${folder}${partName(index, sha256, compression)}`;
      await store.put(key, body);
      return { key, bytes: body.byteLength, sha256, ...counted };
    },
  };
}

type OpenPart = ReturnType<typeof openPart>;

function openPart(compression: Compression) {
  const compressor = createCompressor(compression);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let records = 0;
  let [firstKey, lastKey] = ['', ''];
  let drained: Promise<unknown> = Promise.resolve();
  compressor.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.byteLength;
  });
  const ended = once(compressor, 'end');
  // Awaited when the part ends; until then a failure is told by the write that meets it.
  ended.catch(() => undefined);
  return {
    compressedBytes: () => bytes,
    async write({ keys, lines }: RecordBatch): Promise<void> {
      firstKey = records === 0 ? (keys[0] ?? '') : firstKey;
      lastKey = keys.at(-1) ?? lastKey;
      records += keys.length;
      await drained;
      if (!compressor.write(lines)) drained = once(compressor, 'drain');
      drained.catch(() => undefined);
    },
    async end() {
      compressor.end();
      await ended;
      return { body: Buffer.concat(chunks, bytes), records, firstKey, lastKey };
    },
  };
}

function createCompressor(compression: Compression): Transform {
  switch (compression) {
    case 'gzip':
      return createGzip({ level: 1 });
    case 'zstd':
      return createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3 } });
    default:
      return compression satisfies never;
  }
}
