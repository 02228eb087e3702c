import { createHash } from 'node:crypto';
import { shortened } from '../../base/index.ts';
import { freeMemory, gatherInPlace } from '../../base/json/index.ts';
import type { Store } from '../../store/index.ts';
import { endsPart } from '../changes/key-hash.ts';
import { MAX_LINE_BYTES, partChunks } from '../changes/line-reader.ts';
import { createFramePacker, packFrame } from '../frames/frame-packer.ts';
import { type Compression, compressionSuffix, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';
import type { RecordBatch, RecordPiece } from '../page/record-fields.ts';

/**
 * The default size in bytes at which a part ends in any case, before compression; about 16 MB compressed. One part in
 * twenty becomes this large.
 */
const MAX_PART_BYTES = 96_000_000;
/**
 * A frame ends with the line that reaches this size, in bytes before compression. It is small enough that several fit
 * into memory, and large enough to compress well.
 */
const FRAME_BYTES = 1_000_000;

const LINE_FEED = 0x0a;

/**
 * Creates a writer of records into parts. A part ends after the same keys in every run (`endsPart`), even if the run
 * was stopped or its pages had other sizes. So its bytes depend only on its records, and unchanged parts are the same
 * in every run. Memory holds each compressed part until it is stored, since its name ends in the sha256 of all its
 * bytes. `storeOpen` stores the open part under a separate name, and `resume` continues it from there.
 */
export function createPartWriter({
  store,
  folder,
  compression,
  ...options
}: {
  readonly store: Store;
  /** The folder for parts; ends in a slash. */
  readonly folder: string;
  readonly compression: Compression;
  /** Maximum bytes of a record's line. Default: `MAX_LINE_BYTES`. */
  readonly maxLineBytes?: number | undefined;
  /**
   * If no key ends a part, it ends after the batch in which its lines reach this size, in bytes before compression.
   * Default: `MAX_PART_BYTES`.
   */
  readonly partBytes?: number | undefined;
}) {
  const { maxLineBytes = MAX_LINE_BYTES, partBytes = MAX_PART_BYTES } = options;
  const parts = createParts(compression);
  /** Set if only a part of a batch was added. The batch will be read again, so nothing may be stored. */
  let failed: { readonly cause: unknown } | undefined;
  return {
    /**
     * Adds a batch. Resolves when there is room for another batch. Throws `RangeError` if a line is too long;
     * afterwards nothing can be stored.
     */
    async write({ pieces, release }: RecordBatch): Promise<void> {
      try {
        for (const piece of pieces()) {
          await addRecords(parts, piece, maxLineBytes);
          releaseOncePacked(parts, piece.release);
        }
      } catch (cause) {
        failed = { cause };
        throw cause;
      }
      releaseOncePacked(parts, release);
      if (parts.open().lineBytes >= partBytes) await parts.end();
    },
    end: parts.end,
    hasEnded: () => parts.firstEnded() !== undefined,
    /** Drops all parts that are not stored. */
    async discard(): Promise<void> {
      failed = undefined;
      await parts.discard();
    },
    /**
     * Stores the first ended part as number `index`, and calls `record` with it; returns false if no part has ended.
     * After an error the next call tries again.
     */
    async storeEnded(index: number, record: (part: Part) => Promise<void>): Promise<boolean> {
      if (failed !== undefined) throw failed.cause;
      const part = parts.firstEnded();
      if (part === undefined) return false;
      await parts.settle();
      const nameOf = (sha256: string) => `${folder}${partName(index, sha256, compression)}`;
      await record(await storePart(store, part, part.compressed.bytes(), nameOf));
      parts.dropFirst();
      return true;
    },
    /** Stores the current content of the open part, and returns it; null if it is empty. */
    async storeOpen(): Promise<Part | null> {
      if (failed !== undefined) throw failed.cause;
      const part = parts.open();
      if (part.records === 0) return null;
      const suffix = compressionSuffix[compression];
      const nameOf = (sha256: string) => `${folder}open-${sha256.slice(0, 12)}.ndjson.${suffix}`;
      return storePart(store, part, await parts.openBytes(), nameOf);
    },
    /** Continues the open part that `storeOpen` stored earlier. No key in it ends a part. */
    async resume(part: Part): Promise<void> {
      for await (const chunk of partChunks({ store, part })) await parts.addLines(chunk);
      const { records, firstKey, lastKey } = part;
      Object.assign(parts.open(), { records, firstKey, lastKey });
    },
  };
}

type PartInMemory = {
  readonly compressed: ReturnType<typeof gatherInPlace>;
  lineBytes: number;
  records: number;
  firstKey: string;
  lastKey: string;
};

function createParts(compression: Compression) {
  const packer = createFramePacker<PartInMemory>(compression, (body, part) => {
    part.compressed.add(body);
    freeMemory(body);
  });
  let open = begin();
  let ended: PartInMemory[] = [];

  function begin(): PartInMemory {
    return { compressed: gatherInPlace(), lineBytes: 0, records: 0, firstKey: '', lastKey: '' };
  }

  return {
    open: () => open,
    firstEnded: () => ended[0],
    settle: packer.settle,
    /** Adds lines to the open part. The bytes may be cut anywhere. */
    addLines: (lines: Buffer): Promise<void> => addInFrames(packer, open, lines),
    async end(): Promise<void> {
      if (packer.openBytes() > 0) await packer.end(open);
      if (open.records === 0) return;
      ended.push(open);
      open = begin();
    },
    /** The bytes of the open part, as if it ended here. */
    async openBytes(): Promise<Buffer> {
      const rest = packer.openLines();
      await packer.settle();
      const last = rest.byteLength === 0 ? [] : [await packFrame(rest, compression)];
      return Buffer.concat([open.compressed.bytes(), ...last]);
    },
    dropFirst(): void {
      ended.shift()?.compressed.clear();
    },
    async discard(): Promise<void> {
      if (packer.openBytes() > 0) await packer.end(open);
      await packer.settle();
      for (const { compressed } of [open, ...ended]) compressed.clear();
      [ended, open] = [[], begin()];
    },
  };
}

type FramePacker<About> = ReturnType<typeof createFramePacker<About>>;

async function addInFrames(
  packer: FramePacker<PartInMemory>,
  part: PartInMemory,
  lines: Buffer,
): Promise<void> {
  part.lineBytes += lines.byteLength;
  let rest = lines;
  for (;;) {
    const at = rest.indexOf(LINE_FEED, Math.max(0, FRAME_BYTES - 1 - packer.openBytes()));
    if (at < 0) break;
    await packer.end(part, rest.subarray(0, at + 1));
    rest = rest.subarray(at + 1);
  }
  packer.add(rest);
}

async function addRecords(
  parts: ReturnType<typeof createParts>,
  piece: RecordPiece,
  maxLineBytes: number,
): Promise<void> {
  const { keys, ends } = piece;
  const { buffer, byteOffset, byteLength } = piece.lines;
  const lines = Buffer.from(buffer, byteOffset, byteLength);
  let [added, start] = [0, 0];
  let record = 0;
  for (const key of keys) {
    const end = ends[record] ?? 0;
    record += 1;
    const lineBytes = end - start;
    if (lineBytes > maxLineBytes)
      throw new RangeError(
        `record ${shortened(key, MAX_KEY_LENGTH)}: expected at most ${maxLineBytes} bytes, got ${lineBytes}`,
      );
    const open = parts.open();
    if (open.records === 0) open.firstKey = key;
    open.records += 1;
    open.lastKey = key;
    start = end;
    if (!endsPart(key, lineBytes)) continue;
    await parts.addLines(lines.subarray(added, end));
    await parts.end();
    added = end;
  }
  await parts.addLines(lines.subarray(added));
}

const MAX_KEY_LENGTH = 200;

async function storePart(
  store: Store,
  { records, firstKey, lastKey }: PartInMemory,
  body: Buffer,
  keyOf: (sha256: string) => string,
): Promise<Part> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = keyOf(sha256);
  await store.put(key, body, { sha256 });
  return { key, bytes: body.byteLength, sha256, records, firstKey, lastKey };
}

function releaseOncePacked(parts: ReturnType<typeof createParts>, release: (() => void) | undefined): void {
  // A failure is ignored here, since the next write throws it again. Memory that is not freed here is
  // garbage-collected.
  if (release !== undefined) parts.settle().then(release, () => undefined);
}
