import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { type GatheredBytes, gatherBytes } from '../../bytes/gathered-bytes.ts';
import type { Store } from '../../store/store.ts';
import { type Compression, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';
import type { RecordBatch } from '../page/record-batch.ts';

export type PartWriterOptions = {
  readonly store: Store;
  /** Where parts go; ends in a slash. */
  readonly folder: string;
  readonly compression: Compression;
};

/**
 * Writes batches of records into one part at a time. Memory holds one compressed part: its name ends in its sha256,
 * so it can only be stored once it is complete.
 */
export function createPartWriter({ store, folder, compression }: PartWriterOptions) {
  // All parts use the same memory: with a new buffer for each, two would be held until the old one is collected.
  const compressed = gatherBytes();
  let open: OpenPart | undefined;
  return {
    /** Adds records in order. Resolves once the previous batch has been compressed, so that one may be under way. */
    async write(batch: RecordBatch): Promise<void> {
      if (batch.keys.length === 0) return;
      open ??= openPart(compression, compressed);
      await open.write(batch);
    },
    /** The compressed size of the open part so far, in bytes. */
    compressedBytes: () => compressed.sizeBytes(),
    /**
     * Stores the open part under its number, and returns it; undefined if nothing was written. A part that could not
     * be stored stays open: the next close tries again.
     */
    async close(index: number): Promise<Part | undefined> {
      if (open === undefined) return undefined;
      const counted = await open.end();
      const body = compressed.bytes();
      const bytes = body.byteLength;
      const sha256 = createHash('sha256').update(body).digest('hex');
      const key = `${folder}${partName(index, sha256, compression)}`;
      await store.put(key, body);
      open = undefined;
      compressed.clear();
      return { key, bytes, sha256, ...counted };
    },
  };
}

type OpenPart = ReturnType<typeof openPart>;

function openPart(compression: Compression, compressed: GatheredBytes) {
  const compressor = createCompressor(compression);
  let records = 0;
  let [firstKey, lastKey] = ['', ''];
  let drained: Promise<unknown> = Promise.resolve();
  compressor.on('data', compressed.add);
  const ended = once(compressor, 'end');
  // Awaited when the part ends; until then a failure is reported by the write that meets it.
  ended.catch(() => undefined);
  return {
    async write({ keys, lines, release }: RecordBatch): Promise<void> {
      firstKey = records === 0 ? (keys[0] ?? '') : firstKey;
      lastKey = keys.at(-1) ?? lastKey;
      records += keys.length;
      await drained;
      drained = written(compressor, lines).then(release);
      drained.catch(() => undefined);
    },
    async end() {
      compressor.end();
      await ended;
      return { records, firstKey, lastKey };
    },
  };
}

/** Resolves once the bytes have been compressed: until then they must stay as they are. */
function written(compressor: Transform, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    compressor.write(bytes, (error) => (error == null ? resolve() : reject(error)));
  });
}

/** The size of output chunks. Each costs a turn of the event loop: with Node's 16 KB a page would need sixty. */
const CHUNK_BYTES = 1024 * 1024;

function createCompressor(compression: Compression): Transform {
  switch (compression) {
    case 'gzip':
      return createGzip({ level: 1, chunkSize: CHUNK_BYTES });
    case 'zstd':
      return createZstdCompress({
        chunkSize: CHUNK_BYTES,
        params: { [constants.ZSTD_c_compressionLevel]: 3 },
      });
    default:
      return compression satisfies never;
  }
}
