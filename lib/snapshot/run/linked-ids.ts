import { canonicalId, type LinkedId } from '../../model/rules/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { createRecordFields } from '../changes/line-members.ts';
import { eachLine } from '../changes/line-reader.ts';
import { manifestOf, type Part, readLatest } from '../manifest.ts';
import { isSamePlatform } from '../same-platform.ts';
import type { Source } from '../sources/sources.ts';

type LinkedIdsOptions = {
  readonly store: Store;
  readonly from: Source;
  readonly fields: readonly string[];
  readonly idsIn: (record: unknown) => readonly LinkedId[];
  /** What the ids identify, for messages: `datasets`. */
  readonly field: string;
  readonly platform: string;
  readonly signal?: AbortSignal | undefined;
};

/** The ids that a published run links to, each once and sorted as text. `gone`: those that every link says are gone. */
type LinkedIds = {
  readonly run: string;
  readonly ids: readonly string[];
  readonly gone: ReadonlySet<string>;
};

/** The ids that the last published run of a source links to. Throws `StoredObjectError` for none, or another platform's. */
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
  // By the form in which equal ids are equal: of several spellings, the first is sent.
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

/** Adds to an error for something missing or damaged how it is replaced. */
async function replaceable<T>({ from, field }: LinkedIdsOptions, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const wayOut = `to have ${field} to take from ${from}, publish a new snapshot of ${from} by force, and start again`;
    throw new StoredObjectError('invalid', `${error.message}; ${wayOut}`, { cause: error });
  }
}
