import * as z from 'zod/mini';
import { missingObject, type Store } from '../../store/index.ts';
import type { ChangeCounts, LineChange } from '../changes/change.ts';
import { compareByHash } from '../changes/compare-by-hash.ts';
import type { Comparison } from '../changes/comparison.ts';
import { bucketCount, bucketParts, hashesOf, putInBuckets } from '../changes/hash-buckets.ts';
import { orderedPieces } from '../changes/ordered-pieces.ts';
import { packChanges } from '../changes/pack-changes.ts';
import { compareSideBySide, NotSideBySideError } from '../changes/side-by-side.ts';
import { packFrame } from '../frames/frame-codec.ts';
import type { Part } from '../manifest.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { onceStored } from './stored-outcome.ts';

export type ChangesToPublish = Omit<Comparison, 'before' | 'after'> & {
  readonly before: { readonly parts: readonly Part[] };
  readonly after: { readonly parts: readonly Part[] };
  /** Where the changes go. */
  readonly key: string;
  /** The store that the changes and the pieces go to. Default: the one that the runs are in. */
  readonly to?: Store | undefined;
  /** A folder for the pieces that this comparison is made of, and for nothing else. Ends in a slash. */
  readonly pieces: string;
  /** Asked after each piece: true ends the slice. */
  readonly isOver: () => boolean;
  /** The compressed bytes of the parts that one piece reads. Default 64 MB, which takes seconds. */
  readonly pieceBytes?: number;
};

const PIECE_BYTES = 64_000_000;

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
  for (const piecesOf of [mergedPieces, alignedPieces, bucketPieces]) {
    const segments = await gather(piecesOf(options), options);
    if (segments === 'over') return undefined;
    if (segments === 'other-way') continue;
    await join(options, segments);
    const total = (kind: keyof ChangeCounts) => segments.reduce((sum, { counts }) => sum + counts[kind], 0);
    return { added: total('added'), removed: total('removed'), changed: total('changed') };
  }
  throw new TypeError('expected buckets to be compared');
}

/**
 * What a piece found, unless it only prepared others, and whether it was done now or in an earlier slice. `other-way`: the
 * runs cannot be compared in this way.
 */
type Piece = { readonly segment?: Segment | 'other-way'; readonly isNew: boolean };

/** The segments of all pieces; `over` if the slice is over before the last. */
async function gather(
  pieces: AsyncIterable<Piece>,
  { isOver }: ChangesToPublish,
): Promise<readonly Segment[] | 'over' | 'other-way'> {
  const segments: Segment[] = [];
  for await (const { segment, isNew } of pieces) {
    if (isNew && isOver()) return 'over';
    if (segment === 'other-way') return segment;
    if (segment !== undefined) segments.push(segment);
  }
  return segments;
}

async function* mergedPieces(options: ChangesToPublish): AsyncGenerator<Piece> {
  const { source, before, after, pieceBytes = PIECE_BYTES } = options;
  if (!sourceDefinitions[source].records.inKeyOrder) return yield { segment: 'other-way', isNew: false };
  const whole = [{ before: before.parts, after: after.parts, range: {} }];
  const pieces = orderedPieces(source, before.parts, after.parts, pieceBytes) ?? whole;
  for (const [index, piece] of pieces.entries()) {
    const compared = { ...options, before: { parts: [...piece.before] }, after: { parts: [...piece.after] } };
    yield storeSegment(options, `merged-${numbered(index)}`, () =>
      compareSideBySide(compared, { merge: piece.range }),
    );
  }
}

async function* alignedPieces(options: ChangesToPublish): AsyncGenerator<Piece> {
  yield storeSegment(options, 'aligned', () => compareSideBySide(comparisonOf(options), 'align'));
}

async function* bucketPieces(options: ChangesToPublish): AsyncGenerator<Piece> {
  const { pieces: folder, pieceBytes = PIECE_BYTES } = options;
  const comparison = comparisonOf(options);
  const buckets = { store: targetOf(options), folder: `${folder}buckets/`, count: bucketCount(comparison) };
  const isOne = buckets.count === 1;
  for (const side of isOne ? [] : (['before', 'after'] as const)) {
    for (const [piece, parts] of grouped(options[side].parts, pieceBytes).entries()) {
      yield prepare(options, `put-${side}-${numbered(piece)}`, () =>
        putInBuckets(buckets, { ...comparison, side, piece, parts }),
      );
    }
  }
  for (let bucket = 0; bucket < buckets.count; bucket += 1) {
    const range = hashesOf(buckets, bucket);
    const inBuckets = { ...comparison, store: buckets.store };
    const partsIn = (side: 'before' | 'after') => bucketParts(buckets, bucket, side);
    yield storeSegment(options, `hashed-${numbered(bucket)}`, async function* compared() {
      if (isOne)
        yield* compareByHash(comparison, { before: options.before.parts, after: options.after.parts }, range);
      else
        yield* compareByHash(
          inBuckets,
          { before: await partsIn('before'), after: await partsIn('after') },
          range,
        );
    });
  }
}

const targetOf = ({ store, to = store }: ChangesToPublish): Store => to;

const numbered = (index: number): string => String(index).padStart(5, '0');

const comparisonOf = ({ before, after, ...options }: ChangesToPublish): Comparison => ({
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

async function prepare(options: ChangesToPublish, name: string, work: () => Promise<void>): Promise<Piece> {
  const { isNew } = await onceStored(
    targetOf(options),
    `${options.pieces}${name}.json`,
    preparedSchema,
    async () => {
      await work();
      return {};
    },
  );
  return { isNew };
}

async function storeSegment(
  options: ChangesToPublish,
  name: string,
  compare: () => AsyncIterable<readonly LineChange[]>,
): Promise<Piece> {
  const { pieces, signal } = options;
  const store = targetOf(options);
  const { outcome, isNew } = await onceStored(
    store,
    `${pieces}${name}.json`,
    z.nullable(segmentSchema),
    async () => {
      const key = `${pieces}${name}.ndjson.gz`;
      const counts = { added: 0, removed: 0, changed: 0 };
      const packed = packChanges(compare(), ({ change }) => {
        counts[change] += 1;
      });
      try {
        const first = await packed.next();
        if (first.done) return { key: null, counts };
        await store.putStream(key, startingWith(first.value, packed), signal === undefined ? {} : { signal });
      } catch (error) {
        if (error instanceof NotSideBySideError) return null;
        throw error;
      }
      return { key, counts };
    },
  );
  return { segment: outcome ?? 'other-way', isNew };
}

async function* startingWith<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** Stores the segments one after another under the key of the changes: gzip members may be concatenated. */
async function join(options: ChangesToPublish, segments: readonly Segment[]): Promise<void> {
  const { key, signal } = options;
  const store = targetOf(options);
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
