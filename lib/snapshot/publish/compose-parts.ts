import { createHash } from 'node:crypto';
import { freeMemory, gatherBytes } from '../../base/index.ts';
import { missingObject, type Store, StoredObjectError } from '../../store/index.ts';
import { readFrames } from '../frames/frame.ts';
import { compressionOf } from '../keys.ts';
import type { Part } from '../manifest.ts';
import { checkFrames } from './check-parts.ts';
import type { ComposedPart, FramePosition } from './composed-part.ts';
import { createOpenPart } from './open-part.ts';

export type PartsToCompose = {
  readonly store: Store;
  /** The run's parts under `work/`, in order. */
  readonly parts: readonly Part[];
  /** Where the published parts go; ends in a slash. */
  readonly folder: string;
  /** Where to begin, and how many published parts come before. Default: at the beginning. */
  readonly from?: FramePosition;
  readonly index?: number;
  /** See `seriesOf`. */
  readonly series: number;
};

/**
 * The parts that a run is published as. Where the run was stopped, how long its parts stayed open and how large its
 * pages were decide what its parts under `work/` are; the published ones depend on the records alone:
 *
 * - A part under `work/` is a series of frames (gzip members or zstd frames), each compressed for itself. A frame ends
 *   after a record that is chosen by its key and size (`borderAfter`), some of which also end a published part.
 * - Such frames are put together byte for byte. Only where a part was closed in the middle of a frame are the pieces of
 *   that frame unpacked and packed again.
 *
 * So records that do not change are in parts with the same bytes from run to run, which the comparison need not read.
 * Throws `StoredObjectError` that names a part that is missing or altered.
 */
export async function* composeParts(options: PartsToCompose): AsyncGenerator<ComposedPart> {
  const { store, parts, folder, series, from = { part: 0, frame: 0 }, index = 0 } = options;
  const open = createOpenPart({
    store,
    folder,
    index,
    series,
    compression: compressionOf(parts[0]?.key ?? ''),
  });
  for (const [at, part] of parts.entries()) {
    if (at < from.part) continue;
    const frames = await readFrames(store, part.key);
    const after = { part: at + 1, frame: 0 };
    checkFrames(part, frames);
    const body = await readWhole(store, part);
    let offset = 0;
    for (const [number, frame] of frames.entries()) {
      const bytes = body.subarray(offset, offset + frame.bytes);
      offset += frame.bytes;
      if (at === from.part && number < from.frame) continue;
      await open.add(bytes, frame, part.key);
      const isEnd = number === frames.length - 1;
      if (open.isComplete(frame)) yield* open.end(isEnd ? after : { part: at, frame: number + 1 });
    }
    freeMemory(body);
  }
  yield* open.end({ part: parts.length, frame: 0 });
}

/** A part that was written from memory is not larger. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The bytes of a part, which fits into memory since it was written from there. */
async function readWhole(store: Store, part: Part): Promise<Buffer> {
  if (part.bytes > MOST_BYTES)
    throw invalid(`${part.key}: expected at most ${MOST_BYTES} bytes, got ${part.bytes}`);
  const body = gatherBytes(part.bytes);
  await readChecked(store, part, body.add);
  return body.bytes();
}

/** Gives the bytes of a part to `add`. Throws at the end if they do not have its sha256, and as soon as they are more. */
async function readChecked(
  store: Store,
  { key, bytes, sha256 }: Part,
  add: (chunk: Uint8Array) => void,
): Promise<void> {
  // Not `get`: a directory would hash the bytes once more, for an etag.
  const chunks = await store.stream(key);
  if (chunks === undefined) throw missingObject(store, key, 'a part');
  const hash = createHash('sha256');
  let readBytes = 0;
  for await (const chunk of chunks) {
    readBytes += chunk.byteLength;
    if (readBytes > bytes) throw invalid(`${key}: expected the ${bytes} bytes of its entry, got more`);
    hash.update(chunk);
    add(chunk);
  }
  const got = hash.digest('hex');
  if (got !== sha256) throw invalid(`${key}: expected the sha256 ${sha256} of its entry, got ${got}`);
}

const invalid = (message: string) => new StoredObjectError('invalid', message);
