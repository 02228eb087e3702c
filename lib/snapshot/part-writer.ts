import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { Store } from '../store/store.ts';
import type { ScannedRecord } from './calculation-pages.ts';
import { type Compression, partName } from './keys.ts';

/** A part that is durable. Sizes in bytes, compressed. */
export type Part = {
  /** Its key: under the run's work folder, or once published under the run's. */
  readonly key: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly firstKey: string;
  readonly lastKey: string;
};

export type PartWriterOptions = {
  readonly store: Store;
  /** Where parts go; ends in a slash. */
  readonly folder: string;
  readonly compression: Compression;
  /** A part is closed once its compressed bytes reach this. Default 16 MB. */
  readonly partBytes?: number;
  readonly signal?: AbortSignal | undefined;
};

const PART_BYTES = 16_000_000;

/**
 * Writes records as lines into parts, one after another. Memory holds one compressed part: its name ends in its
 * sha256, so it is stored once it is whole.
 */
export function createPartWriter(options: PartWriterOptions) {
  const { store, folder, compression, partBytes = PART_BYTES, signal } = options;
  const parts: Part[] = [];
  let open: OpenPart | undefined;

  const close = async () => {
    if (open === undefined) return;
    const { body, ...counted } = await open.end();
    open = undefined;
    const sha256 = createHash('sha256').update(body).digest('hex');
    const key = `${folder}${partName(parts.length, sha256, compression)}`;
    await store.put(key, body, signal === undefined ? {} : { signal });
    parts.push({ key, bytes: body.byteLength, sha256, ...counted });
  };

  return {
    /** Adds records in their order; resolves once the compressor has taken them. */
    async write(records: readonly ScannedRecord[]): Promise<void> {
      if (records.length === 0) return;
      open ??= openPart(compression);
      await open.write(records);
      if (open.compressedBytes() >= partBytes) await close();
    },
    /** Stores the last part and answers them all, in order. */
    async end(): Promise<readonly Part[]> {
      await close();
      return parts;
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
  compressor.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.byteLength;
  });
  const ended = once(compressor, 'end');
  return {
    compressedBytes: () => bytes,
    async write(more: readonly ScannedRecord[]): Promise<void> {
      firstKey = records === 0 ? (more[0]?.key ?? '') : firstKey;
      lastKey = more.at(-1)?.key ?? lastKey;
      records += more.length;
      const lines = `${more.map((record) => record.line).join('\n')}\n`;
      if (!compressor.write(lines)) await once(compressor, 'drain');
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
