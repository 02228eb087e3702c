import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { shortened } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import { canonicalId, type LinkedId } from '../../model/rules/index.ts';
import {
  MAX_LIST_BYTES,
  printBounded,
  readStored,
  type Store,
  StoredObjectError,
} from '../../store/index.ts';
import { createRecordFields } from '../changes/line-members.ts';
import { eachLine } from '../changes/line-reader.ts';
import { type Place, type Run, sourceOf, workFolder } from '../keys.ts';
import { type Manifest, manifestOf, type Part, readLatest } from '../manifest.ts';
import { isSamePlatform, knownRefusals } from '../publish/gates.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import type { GateName, Scan } from '../scan.ts';
import { placeOfRequest, type SnapshotRequest, selectionOf } from '../sources/request.ts';
import type { RunToScan } from '../sources/source-definition.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { type Checkpoint, saveCheckpoint } from './checkpoint.ts';
import type { Saved, SnapshotOptions } from './take-run.ts';

type BeginOptions = Pick<SnapshotOptions, 'store' | 'platform' | 'now' | 'random' | 'signal'> &
  Pick<Parameters<typeof startRun>[0], 'compression' | 'idsFrom'> & {
    /** Whether to begin the run even if it would be refused. Default: false. */
    readonly force?: boolean;
  };

/** Thrown before the first request if it is already certain that the run would fail a gate. */
export class KnownRefusalError extends Error {
  override readonly name = 'KnownRefusalError';
  readonly failure: { readonly source: Place; readonly refused: readonly GateName[] };

  constructor(failure: KnownRefusalError['failure'], last: Pick<Manifest, 'run' | 'selection' | 'platform'>) {
    const { run, platform, selection } = last;
    super(
      `${failure.source}: not started, since the run would be refused publication (${failure.refused.join(', ')}): the last run, ${run}, took ${shortened(printJson(selection), 300)} of ${platform}`,
    );
    this.failure = failure;
  }
}

/**
 * Begins a run: stores its first checkpoint, and the ids that it must read one by one. Throws `KnownRefusalError`
 * before anything is stored, and `StoredObjectError` if the run that provides the ids cannot be read.
 */
export async function beginRun(request: SnapshotRequest, options: BeginOptions): Promise<Saved> {
  const { store, compression, platform, idsFrom, force = false } = options;
  const place = placeOfRequest(request);
  const { manifest: last } = await readLastPublication(store, place);
  const { ids, ...found } = await idsOf(request, last, options);
  const known = knownRefusals({ ...found, platform }, last);
  const refused = known.filter((reason) => request.accept?.includes(reason) !== true);
  if (last !== undefined && refused.length > 0 && !force)
    throw new KnownRefusalError({ source: place, refused }, last);
  const saved = await startRun({ source: place, compression, platform, idsFrom, ...found }, options);
  if (ids !== undefined) await storeIds(store, saved.checkpoint, ids);
  return saved;
}

/**
 * Creates a run whose name consists of its start (epoch milliseconds) and 24 random bits. `random` returns a number
 * from 0 up to, but not including, 1.
 */
function createRun(nowMs: number, random: () => number): Run {
  const startedAt = new Date(nowMs).toISOString();
  const start = `${startedAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const suffix = Math.floor(random() * 0x1000000)
    .toString(16)
    .padStart(6, '0');
  return { id: `${start}-${suffix}`, startedAt };
}

/** Names a new run, and stores its first checkpoint. */
export async function startRun(
  {
    source,
    compression,
    selection,
    platform,
    idsFrom,
    missing = [],
  }: Pick<Checkpoint, 'source' | 'compression' | 'selection' | 'platform' | 'idsFrom'> &
    /** Ids that are known to be missing, so they are not requested. Default: none. */
    Partial<Pick<Checkpoint, 'missing'>>,
  { store, now, random }: Pick<SnapshotOptions, 'store' | 'now' | 'random'>,
): Promise<Saved> {
  // Read before the start of this run is set, so that the run in `begunAfter` certainly started earlier. If it is
  // damaged, that is reported when this run is published.
  const { etag, latest } = await readLastPublication(store, source);
  const begunAfter = latest?.run ?? (etag === undefined ? null : '');
  const run = createRun(now(), random);
  const checkpoint: Checkpoint = {
    version: 1,
    source,
    run: run.id,
    startedAt: run.startedAt,
    platform,
    begunAfter,
    selection: { ...selection },
    ...(idsFrom === undefined ? {} : { idsFrom }),
    compression,
    position: null,
    outcome: null,
    parts: 0,
    lastPart: null,
    open: null,
    missing,
    records: 0,
    fields: {},
    calls: { requests: 0, retries: 0, throttled: 0, waitedMs: 0 },
  };
  return { checkpoint, etag: await saveCheckpoint(store, checkpoint, undefined) };
}

/**
 * Finds the ids of a run. One member of the selection describes them: with the ids themselves, or for linked ids only
 * with the source that they come from, since they may change from night to night.
 */
async function idsOf(
  request: SnapshotRequest,
  last: Manifest | undefined,
  { store, platform, signal }: BeginOptions,
): Promise<
  Pick<Parameters<typeof startRun>[0], 'selection' | 'idsFrom' | 'missing'> & {
    readonly ids?: readonly string[];
  }
> {
  const { selection, ids } = selectionOf(request);
  const { ids: idsOfRun } = sourceDefinitions[request.source];
  if (idsOfRun === undefined) return { selection };
  const { field, linked } = idsOfRun;
  if (ids !== undefined) return { ids, selection: { ...selection, [field]: describeIds(ids) } };
  if (linked === undefined) throw new TypeError(`${field}: expected ids, got none`);
  const { run, ids: found, gone } = await linkedIds({ store, platform, signal, field, ...linked });
  // An id is not requested again if the last run could not read it and no link says that it exists.
  const missing = last?.missing.filter(({ id }) => gone.has(id)) ?? [];
  const known = new Set(missing.map(({ id }) => id));
  return {
    ids: found.filter((id) => !known.has(id)),
    missing: missing.map(({ id, status }) => ({ id, status })),
    selection: { ...selection, [field]: linked.from },
    idsFrom: `${linked.from}, run ${run}`,
  };
}

/** Maximum ids that a manifest lists in full. */
const MAX_LISTED = 1_000;

/**
 * Describes a set of ids, so that equal sets have equal descriptions: up to 1,000 ids as a sorted list, more as their
 * number and the sha256 of the list with one id a line.
 */
export function describeIds(ids: readonly string[]) {
  const sorted = [...new Set(ids)].sort();
  if (sorted.length <= MAX_LISTED) return sorted;
  return { count: sorted.length, sha256: createHash('sha256').update(sorted.join('\n')).digest('hex') };
}

/** Opens the scan of a new or resumed run. */
export async function scanOfRun(
  checkpoint: Checkpoint,
  { store, ...parts }: Omit<RunToScan, 'ids'> & { readonly store: Store },
): Promise<Scan<unknown>> {
  const { ids: idsOf, openScan } = sourceDefinitions[sourceOf(checkpoint.source)];
  const ids = idsOf === undefined ? [] : await readIds(store, checkpoint);
  return openScan(checkpoint.selection, { ...parts, ids });
}

const idsSchema = z.object({ ids: z.array(z.string()) });

type RunWithIds = Pick<Checkpoint, 'source' | 'run'>;

const idsKey = ({ source, run }: RunWithIds) => `${workFolder(source, { id: run })}_ids.json`;

/**
 * Stores the ids of a run, so that the run can be resumed even if the file or the run that they came from has changed.
 */
async function storeIds(store: Store, run: RunWithIds, ids: readonly string[]): Promise<void> {
  await store.put(idsKey(run), printBounded(idsKey(run), { ids }, MAX_LIST_BYTES));
}

/** The stored ids of a run. Throws `StoredObjectError` if they are missing or damaged. */
async function readIds(store: Store, run: RunWithIds): Promise<readonly string[]> {
  const expected = { what: "the run's ids", schema: idsSchema, maxBytes: MAX_LIST_BYTES };
  return (await readStored(store, idsKey(run), expected)).value.ids;
}

type LinkedIdsOptions = {
  readonly store: Store;
  readonly from: Source;
  readonly fields: readonly string[];
  readonly idsIn: (record: unknown) => readonly LinkedId[];
  /** What the ids are, for messages, such as `datasets`. */
  readonly field: string;
  readonly platform: string;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The ids that the records of a run link to, each once, sorted as strings. `gone`: the ids that no longer exist
 * according to every link to them.
 */
type LinkedIds = {
  readonly run: string;
  readonly ids: readonly string[];
  readonly gone: ReadonlySet<string>;
};

/**
 * Reads the ids that the records of a source's last published run link to. Throws `StoredObjectError` if there is no
 * such run, or it was taken from another platform.
 */
async function linkedIds(options: LinkedIdsOptions): Promise<LinkedIds> {
  const { store, from, field, platform } = options;
  const found = await withRemedy(options, async () => {
    const latest = await readLatest(store, from);
    if (latest === undefined) return { kind: 'missing', got: '', of: '' } as const;
    const { run } = latest;
    const manifest = await manifestOf(store, latest.manifest, { place: from, run });
    if (isSamePlatform(manifest.platform, platform))
      return { run, ...(await idsInParts(manifest.parts, options)) };
    return {
      kind: 'invalid',
      got: `; the last one, run ${run}, is of ${manifest.platform}`,
      of: ` of ${platform}`,
    } as const;
  });
  if (found.kind === undefined) return found;
  throw new StoredObjectError(
    found.kind,
    `${store.location}: there is no published snapshot of ${from}${found.of} to take ${field} from${found.got}`,
  );
}

async function idsInParts(
  parts: readonly Part[],
  { store, fields, idsIn, signal }: LinkedIdsOptions,
): Promise<Pick<LinkedIds, 'ids' | 'gone'>> {
  // The same id may be spelled differently, so ids are compared in canonical form. The first spelling is requested.
  const found = new Map<string, LinkedId>();
  const readFields = createRecordFields(fields);
  await eachLine({ store, parts, signal }, (reader) => {
    for (const { id, isGone } of idsIn(readFields(reader))) {
      const canonical = canonicalId(id) ?? id;
      const known = found.get(canonical) ?? { id, isGone };
      found.set(canonical, { id: known.id, isGone: known.isGone && isGone });
    }
  });
  const ids = [...found.values()];
  return {
    ids: ids.map(({ id }) => id).sort(),
    gone: new Set(ids.filter(({ isGone }) => isGone).map(({ id }) => id)),
  };
}

/** Adds to an error about a missing or damaged object how to replace that object. */
async function withRemedy<T>({ from }: LinkedIdsOptions, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const remedy = `publish a new snapshot of ${from} with --force, then start again`;
    throw new StoredObjectError('invalid', `${error.message}; ${remedy}`, { cause: error });
  }
}
