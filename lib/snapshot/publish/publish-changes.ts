import type { Store } from '../../store/index.ts';
import { readBy } from '../changes/line-key.ts';
import {
  type ChangeCounts,
  type Comparison,
  compareInBuckets,
  compareSideBySide,
  type LineChange,
  NotSideBySideError,
  piecesOf,
} from '../changes/side-by-side.ts';
import { createFramePacker } from '../frames/frame-packer.ts';
import { type Compression, compressionOf } from '../keys.ts';
import { sourceDefinitions } from '../sources/sources.ts';

export type ChangesToPublish = Comparison & {
  readonly key: string;
  /** The store that they go to. Default: the one that the runs are in. */
  readonly to?: Store | undefined;
  /** A folder in it for records in buckets, should there be any. Ends in a slash. */
  readonly scratch: string;
};

/**
 * Stores the changes between two runs as lines, compressed as the key's suffix says, found side by side, or in buckets
 * if their orders differ too much. What belongs to an id that either run could not read did not change, as far as is known.
 */
export async function publishChanges(options: ChangesToPublish): Promise<ChangeCounts> {
  const { store, to = store, scratch } = options;
  try {
    return await storeChanges(options, compareSideBySide(options));
  } catch (error) {
    if (!(error instanceof NotSideBySideError)) throw error;
    return await storeChanges(options, compareInBuckets(options, { store: to, folder: scratch }));
  }
}

async function storeChanges(
  { store, to = store, key, signal, source, before, after }: ChangesToPublish,
  found: AsyncIterable<readonly LineChange[]>,
): Promise<ChangeCounts> {
  const rule = sourceDefinitions[source].records.key;
  const unread = new Set([...(before.missing ?? []), ...(after.missing ?? [])].map(({ id }) => id));
  const isKnown = ({ key: of }: LineChange) => !unread.has(readBy(rule, of));
  const counts = { added: 0, removed: 0, changed: 0 };
  const known = unread.size === 0 ? found : filtered(found, isKnown);
  const packed = packChanges(known, compressionOf(key), ({ change }) => {
    counts[change] += 1;
  });
  await to.putStream(key, packed, { signal });
  return counts;
}

async function* filtered(
  found: AsyncIterable<readonly LineChange[]>,
  isKept: (change: LineChange) => boolean,
): AsyncGenerator<readonly LineChange[]> {
  for await (const changes of found) yield changes.filter(isKept);
}

/** The bytes of a frame before compression. */
const FRAME_BYTES = 1_000_000;

/** Changes as compressed lines, in whole frames, of which there is at least one. `counted` is called with each. */
async function* packChanges(
  changes: AsyncIterable<readonly LineChange[]>,
  compression: Compression,
  counted: (change: LineChange) => void,
): AsyncGenerator<Buffer> {
  let packed: Buffer[] = [];
  let isEmpty = true;
  const packer = createFramePacker<undefined>(compression, (body) => packed.push(body));
  for await (const some of changes) {
    for (const change of some) {
      counted(change);
      for (const piece of piecesOf(change)) {
        if (typeof piece === 'string') packer.addText(piece);
        else packer.add(piece);
      }
      packer.addText('\n');
      isEmpty = false;
      if (packer.openBytes() >= FRAME_BYTES) await packer.end(undefined);
    }
    if (packed.length === 0) continue;
    yield* packed;
    packed = [];
  }
  if (isEmpty || packer.openBytes() > 0) await packer.end(undefined);
  await packer.settle();
  yield* packed;
}
