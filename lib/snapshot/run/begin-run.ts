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
import { type Place, sourceOf, workFolder } from '../keys.ts';
import { type Manifest, manifestOf, type Part, readLatest } from '../manifest.ts';
import { isSamePlatform, knownRefusals } from '../publish/gates.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import type { GateName, Scan } from '../scan.ts';
import { placeOfRequest, type SnapshotRequest, selectionOf } from '../sources/request.ts';
import type { RunToScan } from '../sources/source-definition.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import type { Checkpoint } from './checkpoint.ts';
import { type Saved, type SnapshotOptions, startRun } from './take-run.ts';

type BeginOptions = Pick<SnapshotOptions, 'store' | 'platform' | 'now' | 'random' | 'signal'> &
  Pick<Parameters<typeof startRun>[0], 'compression' | 'idsFrom'> & {
    /** Whether to begin the run even if it would be refused. Default: false. */
    readonly force?: boolean;
  };

/** Thrown if a run would certainly be refused once it was read completely: no request was sent for it. */
export class KnownRefusalError extends Error {
  override readonly name = 'KnownRefusalError';
  readonly failure: { readonly source: Place; readonly refused: readonly GateName[] };

  constructor(failure: KnownRefusalError['failure'], last: Pick<Manifest, 'run' | 'selection' | 'platform'>) {
    const { run, platform, selection } = last;
    super(
      `${failure.source}: refused before the first request as: ${failure.refused.join(', ')}; expected what the last run, ${run}, took: ${shortened(printJson(selection), 300)} of ${platform}`,
    );
    this.failure = failure;
  }
}

/**
 * Begins a run, and stores the ids that it must read one by one. Throws `KnownRefusalError` before anything
 * is stored, and `StoredObjectError` if the source of the ids cannot be read.
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
 * Where the ids of a run come from. The selection includes the member that names them. Linked ids may change
 * from night to night, so only their source is named.
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
  if (ids !== undefined) return { ids, selection: { ...selection, [field]: givenIds(ids) } };
  if (linked === undefined) throw new TypeError(`${field}: expected ids, got none`);
  const { run, ids: found, gone } = await linkedIds({ store, platform, signal, field, ...linked });
  // An id is not requested again if every link says that it no longer exists, and the last run could not read
  // it.
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
 * Describes ids, equal for equal ids: a sorted list if there are few, otherwise their number and the sha256
 * of their lines.
 */
export function givenIds(ids: readonly string[]) {
  const sorted = [...new Set(ids)].sort();
  if (sorted.length <= MAX_LISTED) return sorted;
  return { count: sorted.length, sha256: createHash('sha256').update(sorted.join('\n')).digest('hex') };
}

/** Opens the scan of a new or resumed run, starting from its checkpoint. */
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

/** Stores the ids of a run, so that it can be resumed even if the file or run that they came from has changed. */
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
  /** What the ids identify, for messages, such as `datasets`. */
  readonly field: string;
  readonly platform: string;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The ids that a published run links to, each once, sorted as text. `gone`: those that no longer exist
 * according to every link.
 */
type LinkedIds = {
  readonly run: string;
  readonly ids: readonly string[];
  readonly gone: ReadonlySet<string>;
};

/**
 * The ids that the last published run of a source links to. Throws `StoredObjectError` if there is no such
 * run, or it is another platform's.
 */
export async function linkedIds(options: LinkedIdsOptions): Promise<LinkedIds> {
  const { store, from, field, platform } = options;
  const found = await replaceable(options, async () => {
    const latest = await readLatest(store, from);
    if (latest === undefined) return { kind: 'missing', got: 'none', of: '' } as const;
    const { run } = latest;
    const manifest = await manifestOf(store, latest.manifest, { place: from, run });
    if (isSamePlatform(manifest.platform, platform))
      return { run, ...(await idsInParts(manifest.parts, options)) };
    return { kind: 'invalid', got: `run ${run} of ${manifest.platform}`, of: ` of ${platform}` } as const;
  });
  if (found.kind === undefined) return found;
  throw new StoredObjectError(
    found.kind,
    `${store.location}: expected a published snapshot of ${from}${found.of} to take ${field} from, got ${found.got}`,
  );
}

async function idsInParts(
  parts: readonly Part[],
  { store, fields, idsIn, signal }: LinkedIdsOptions,
): Promise<Pick<LinkedIds, 'ids' | 'gone'>> {
  // Equal ids may be spelled differently: they are compared in one form, and the first spelling is sent.
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

/** Adds to the error about a missing or damaged object how to replace that object. */
async function replaceable<T>({ from, field }: LinkedIdsOptions, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const wayOut = `to have ${field} to take from ${from}, publish a new snapshot of ${from} by force, and start again`;
    throw new StoredObjectError('invalid', `${error.message}; ${wayOut}`, { cause: error });
  }
}
