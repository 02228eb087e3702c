import { rm } from 'node:fs/promises';
import { createTemporaryFolder } from '../../locations.ts';
import { openStore, type Store } from '../../store/index.ts';
import { createFramePacker } from '../frames/frame-packer.ts';
import { type Compression, compressionOf, type Place, runOfId, sourceOf } from '../keys.ts';
import { type Manifest, manifestOf, type PublishedRun, publishedRuns } from '../manifest.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { type Change, type collectChanges, type LineChange, piecesOf, storedChanges } from './change.ts';
import { requestedId } from './line-members.ts';
import { compareInBuckets, compareSideBySide, NotSideBySideError } from './side-by-side.ts';

type ChangeCounts = Awaited<ReturnType<typeof collectChanges>>['counts'];

type RunsToCompare = {
  readonly store: Store;
  readonly place: Place;
  /**
   * The name of the older run. Default: the run that `now` was compared with when it was published, or else the
   * published run before it.
   */
  readonly old?: string | undefined;
  /** The name of the newer run. Default: the last published run. */
  readonly now?: string | undefined;
  /**
   * A time in epoch milliseconds, instead of `old`. The older run is then the last one that had started by that time,
   * or else the first published run other than `now`.
   */
  readonly sinceMs?: number | undefined;
  /** Maximum memory for records that are not in order, in bytes. */
  readonly memoryBytes: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Finds the changes between two published runs: reads them if they are stored, otherwise compares the runs. Throws
 * `StoredObjectError` if one is damaged.
 */
export async function changesBetween(wanted: RunsToCompare): Promise<
  | { readonly kind: 'nothing-published' }
  | { readonly kind: 'unknown-run'; readonly run: string; readonly runs: readonly PublishedRun[] }
  | {
      readonly kind: 'found';
      /** The older run; null if there is no run to compare with. */
      readonly old: string | null;
      readonly after: Manifest;
      /** The changes; undefined if there is no older run. Read all of them, or end the generator. */
      readonly steps: AsyncGenerator<Change> | undefined;
      readonly isStored: boolean;
    }
> {
  const { store, place, memoryBytes, signal } = wanted;
  const runs = await publishedRuns(store, place, { signal });
  const find = (name: string) => runs.find(({ run }) => run === name);
  const newer = wanted.now === undefined ? runs[0] : find(wanted.now);
  if (runs.length === 0) return { kind: 'nothing-published' };
  if (newer === undefined) return { kind: 'unknown-run', run: wanted.now ?? '', runs };
  if (wanted.old !== undefined && find(wanted.old) === undefined)
    return { kind: 'unknown-run', run: wanted.old, runs };
  const after = await manifestOf(store, newer.manifest, { place, run: newer.run });
  const old = olderRunName(wanted, runs, newer, after);
  const older = old === undefined ? undefined : find(old);
  if (old !== undefined && old === after.changes?.against) {
    const steps = await storedChanges({ store, changes: after.changes, signal });
    if (steps !== undefined) return { kind: 'found', old, after, steps, isStored: true };
  }
  if (older === undefined) return { kind: 'found', old: null, after, steps: undefined, isStored: false };
  const before = await manifestOf(store, older.manifest, { place, run: older.run });
  const steps = compareRuns({ store, source: sourceOf(place), before, after, memoryBytes, signal });
  return { kind: 'found', old: older.run, after, steps, isStored: false };
}

/** The name of the older run. The run itself may have been removed; then only stored changes can be shown. */
function olderRunName(
  { old, sinceMs }: RunsToCompare,
  runs: readonly PublishedRun[],
  newer: PublishedRun,
  { changes }: Manifest,
): string | undefined {
  if (old !== undefined) return old;
  if (sinceMs === undefined) return changes?.against ?? runs[runs.indexOf(newer) + 1]?.run;
  const startedMs = ({ run }: PublishedRun) => Date.parse(runOfId(run).startedAt);
  const by = runs.find((each) => startedMs(each) <= sinceMs) ?? runs.at(-1);
  return by === newer && startedMs(newer) > sinceMs ? undefined : by?.run;
}

/** Compares all records of two runs, as `publishChanges` does, and yields the changes. */
export async function* compareRuns(
  comparison: Parameters<typeof compareSideBySide>[0],
): AsyncGenerator<Change> {
  const folder = await createTemporaryFolder('diff');
  try {
    const to = await openStore(folder);
    const key = 'changes.ndjson.zst';
    const counts = await publishChanges({ ...comparison, to, key, scratch: '' });
    const { signal } = comparison;
    yield* (await storedChanges({ store: to, changes: { against: 'before', ...counts, key }, signal })) ?? [];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type ChangesToPublish = Parameters<typeof compareSideBySide>[0] & {
  readonly key: string;
  /** The store to write to. Default: the store of the runs. */
  readonly to?: Store | undefined;
  /** A folder in that store for buckets of records, if any are needed. Ends in a slash. */
  readonly scratch: string;
};

/**
 * Finds the changes between two runs by reading them side by side, or in buckets if their orders differ too much.
 * Stores one change a line, compressed as the key's suffix says. Leaves out the records of ids that one of the runs
 * could not read.
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
  const isKnown = ({ key: of }: LineChange) => !unread.has(requestedId(rule, of));
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

/** The size in bytes of a frame before compression. */
const FRAME_BYTES = 1_000_000;

/**
 * Compresses changes, one a line, into whole frames; there is at least one frame. Calls `onChange` with each change.
 */
async function* packChanges(
  changes: AsyncIterable<readonly LineChange[]>,
  compression: Compression,
  onChange: (change: LineChange) => void,
): AsyncGenerator<Buffer> {
  let packed: Buffer[] = [];
  let isEmpty = true;
  const packer = createFramePacker<undefined>(compression, (body) => packed.push(body));
  for await (const some of changes) {
    for (const change of some) {
      onChange(change);
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
