import * as z from 'zod/mini';
import type { Store } from '../../store/store.ts';
import { missingObject } from '../../store/stored-json.ts';
import { alignRuns, NotAlignedError } from '../changes/align-runs.ts';
import type { LineChange } from '../changes/change.ts';
import { compareBucket, compareByHash } from '../changes/compare-by-hash.ts';
import type { Comparison } from '../changes/comparison.ts';
import { type ChangeCounts, createChangeCounter } from '../changes/count-changes.ts';
import { bucketCount, putInBuckets } from '../changes/hash-buckets.ts';
import { mergeRuns } from '../changes/merge-runs.ts';
import { orderedPieces } from '../changes/ordered-pieces.ts';
import { KeyOrderError } from '../changes/ordered-side.ts';
import { packChanges } from '../changes/pack-changes.ts';
import { packFrame } from '../frames/frame-codec.ts';
import type { Part } from '../manifest.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { onceStored } from './stored-outcome.ts';

export type ChangesToPublish = Omit<Comparison, 'before' | 'after' | 'scratch'> & {
  readonly before: { readonly parts: readonly Part[] };
  readonly after: { readonly parts: readonly Part[] };
  /** Where the changes go. */
  readonly key: string;
  /** A folder for the pieces that this comparison is made of, and for nothing else. Ends in a slash. */
  readonly pieces: string;
  /** Asked after each piece: true ends the slice. */
  readonly isOver: () => boolean;
  /** The compressed bytes of the parts that one piece reads. Default 64 MB, which takes seconds. */
  readonly pieceBytes?: number;
};

const PIECE_BYTES = 64_000_000;
/** What a comparison may hold: a function of 1 GB has room for more, but none is needed. */
const MEMORY_BYTES = 64_000_000;

/** A piece whose changes are stored under `key`; null if there are none. */
const segmentSchema = z.object({
  key: z.nullable(z.string()),
  counts: z.object({ added: z.number(), removed: z.number(), changed: z.number() }),
});
type Segment = z.infer<typeof segmentSchema>;

/**
 * Compares two published runs, stores the changes as gzipped lines, and returns their counts; undefined if the slice is
 * over before that. The work is done in pieces of bounded time and memory, whose outcomes are stored: a comparison that
 * is resumed does not repeat them, and the same runs give the same bytes, wherever it was stopped.
 *
 * Runs in key order are merged range by range, and parts that are the same in both are not read. Others are read side
 * by side. If their orders differ too much for that, they are put into buckets by key hash, a few parts a piece, and
 * compared bucket by bucket. Whatever the size of a run, each of its records is read a few times at most.
 */
export async function publishChanges(options: ChangesToPublish): Promise<ChangeCounts | undefined> {
  const segments: Segment[] = [];
  let isComplete = false;
  try {
    isComplete = await gather(mergedPieces(options), segments, options);
  } catch (error) {
    if (!(error instanceof KeyOrderError)) throw error;
    segments.length = 0;
    isComplete = await gather(hashedPieces(options), segments, options);
  }
  if (!isComplete) return undefined;
  await join(options, segments);
  const total = (kind: keyof ChangeCounts) => segments.reduce((sum, { counts }) => sum + counts[kind], 0);
  return { added: total('added'), removed: total('removed'), changed: total('changed') };
}

/** What a piece found, unless it only prepared others, and whether it was done now or in an earlier slice. */
type Piece = { readonly segment?: Segment; readonly isNew: boolean };

/** Adds the segments of all pieces; false if the slice is over before the last. */
async function gather(
  pieces: AsyncIterable<Piece>,
  segments: Segment[],
  { isOver }: ChangesToPublish,
): Promise<boolean> {
  for await (const { segment, isNew } of pieces) {
    if (segment !== undefined) segments.push(segment);
    if (isNew && isOver()) return false;
  }
  return true;
}

async function* mergedPieces(options: ChangesToPublish): AsyncGenerator<Piece> {
  const { source, before, after, pieceBytes = PIECE_BYTES } = options;
  if (!sourceDefinitions[source].records.inKeyOrder) throw new KeyOrderError(`${source} has no order`);
  const whole = [{ before: before.parts, after: after.parts, range: {} }];
  const pieces = orderedPieces(source, before.parts, after.parts, pieceBytes) ?? whole;
  for (const [index, piece] of pieces.entries()) {
    const compared = {
      ...comparisonOf(options),
      before: { parts: [...piece.before] },
      after: { parts: [...piece.after] },
    };
    yield storeSegment(options, `merged-${numbered(index)}`, () => mergeRuns(compared, piece.range));
  }
}

async function* hashedPieces(options: ChangesToPublish): AsyncGenerator<Piece> {
  const { store, pieces: folder, pieceBytes = PIECE_BYTES } = options;
  const comparison = comparisonOf(options);
  const aligned = await storeSegment(options, 'aligned', () => alignRuns(comparison));
  yield aligned;
  if (aligned.segment !== undefined) return;
  const buckets = { store, folder: `${folder}buckets/`, count: bucketCount(comparison) };
  if (buckets.count === 1) {
    yield storeSegment(options, `hashed-${numbered(0)}`, () => compareByHash(comparison));
    return;
  }
  for (const side of ['before', 'after'] as const) {
    for (const [piece, parts] of grouped(options[side].parts, pieceBytes).entries()) {
      yield prepare(options, `put-${side}-${numbered(piece)}`, () =>
        putInBuckets(buckets, { ...comparison, side, piece, parts }),
      );
    }
  }
  for (let bucket = 0; bucket < buckets.count; bucket += 1) {
    yield storeSegment(options, `hashed-${numbered(bucket)}`, () =>
      compareBucket(comparison, buckets, bucket),
    );
  }
}

const numbered = (index: number): string => String(index).padStart(5, '0');

const comparisonOf = ({ before, after, ...options }: ChangesToPublish): Comparison => ({
  memoryBytes: MEMORY_BYTES,
  ...options,
  before: { parts: [...before.parts] },
  after: { parts: [...after.parts] },
});

/** Parts in order, in groups of about this size. */
function grouped(parts: readonly Part[], groupBytes: number): readonly (readonly Part[])[] {
  const groups: Part[][] = [];
  let bytes = groupBytes;
  for (const part of parts) {
    if (bytes >= groupBytes) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(part);
    bytes += part.bytes;
  }
  return groups;
}

const preparedSchema = z.object({});

async function prepare(
  { store, pieces }: ChangesToPublish,
  name: string,
  work: () => Promise<void>,
): Promise<Piece> {
  const { isNew } = await onceStored(store, `${pieces}${name}.json`, preparedSchema, async () => {
    await work();
    return {};
  });
  return { isNew };
}

async function storeSegment(
  { store, pieces, signal }: ChangesToPublish,
  name: string,
  compare: () => AsyncIterable<readonly LineChange[]>,
): Promise<Piece> {
  const { outcome, isNew } = await onceStored(
    store,
    `${pieces}${name}.json`,
    z.nullable(segmentSchema),
    async () => {
      const key = `${pieces}${name}.ndjson.gz`;
      const counter = createChangeCounter();
      const packed = packChanges(compare(), counter.add);
      try {
        const first = await packed.next();
        if (first.done) return { key: null, counts: counter.counts() };
        await store.putStream(key, startingWith(first.value, packed), signal === undefined ? {} : { signal });
      } catch (error) {
        if (error instanceof NotAlignedError) return null;
        throw error;
      }
      return { key, counts: counter.counts() };
    },
  );
  return outcome === null ? { isNew } : { segment: outcome, isNew };
}

async function* startingWith<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** Stores the segments one after another under the key of the changes: gzip members may be concatenated. */
async function join({ store, key, signal }: ChangesToPublish, segments: readonly Segment[]): Promise<void> {
  const keys = segments.flatMap((segment) => segment.key ?? []);
  const [only] = keys;
  const withSignal = signal === undefined ? {} : { signal };
  if (only === undefined) await store.put(key, await packFrame(Buffer.alloc(0), 'gzip'), withSignal);
  else if (keys.length === 1) await store.copy(only, key, withSignal);
  else await store.putStream(key, bytesOf(store, keys, signal), withSignal);
}

async function* bytesOf(
  store: Store,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for (const key of keys) {
    const bytes = await store.stream(key, signal === undefined ? {} : { signal });
    if (bytes === undefined) throw missingObject(store, key, 'a piece of the changes');
    yield* bytes;
  }
}
