import { createHash } from 'node:crypto';
import { type GatheredBytes, gatherBytes } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import type { Frame } from '../frames/frame.ts';
import { type Compression, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';
import type { ComposedPart, FramePosition } from './composed-part.ts';
import { createJoinedFrames } from './joined-frames.ts';

/** A part that no key has ended is ended at this size, compressed. */
const MOST_PART_BYTES = 16_000_000;

export type OpenPartOptions = {
  readonly store: Store;
  /** Where published parts go; ends in a slash. */
  readonly folder: string;
  /** The number of the first one. */
  readonly index: number;
  readonly compression: Compression;
  readonly series: number;
};

const NO_RECORDS = { records: 0, firstKey: '', lastKey: '' } as const;

/** Gathers the frames of one published part after another. Memory holds those that are not stored yet. */
export function createOpenPart({ store, folder, compression, series, ...options }: OpenPartOptions) {
  let { index } = options;
  const free: GatheredBytes[] = [];
  let gathered = gatherBytes();
  let found: Pick<Part, 'records' | 'firstKey' | 'lastKey'> = NO_RECORDS;
  const joined = createJoinedFrames(compression, (bytes) => gathered.add(bytes));
  return {
    /** Adds the next frame, of the part `partKey`. */
    async add(bytes: Uint8Array, { records, firstKey, lastKey, end }: Frame, partKey: string): Promise<void> {
      const first = found.records === 0 ? firstKey : found.firstKey;
      found = { records: found.records + records, firstKey: first, lastKey };
      await joined.add(bytes, end, partKey);
    },
    /** True if the part ends with this frame, the last one that was added. */
    isComplete: ({ end }: Frame): boolean =>
      joined.isWhole() && (end === 'part' || gathered.sizeBytes() >= MOST_PART_BYTES),
    /** Ends the part, if it has frames. The next one begins at `next`. */
    async *end(next: FramePosition): AsyncGenerator<ComposedPart> {
      const { records, ...keys } = found;
      if (records === 0) return;
      await joined.end();
      const filled = gathered;
      const body = filled.bytes();
      const sha256 = createHash('sha256').update(body).digest('hex');
      const key = `${folder}${partName(index, sha256, compression, series)}`;
      gathered = free.pop() ?? gatherBytes();
      found = NO_RECORDS;
      index += 1;
      const put = async () => {
        await store.put(key, body, { sha256 });
        filled.clear();
        free.push(filled);
      };
      yield { part: { key, records, bytes: body.byteLength, sha256, ...keys }, next, store: put };
    },
  };
}
