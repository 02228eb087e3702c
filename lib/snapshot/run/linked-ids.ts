import { canonicalId } from '../../model/rules.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { createRecordFields } from '../changes/line-members.ts';
import { readLines } from '../changes/line-reader.ts';
import { manifestOf, type Part, readLatest } from '../manifest.ts';
import { isSamePlatform } from '../same-platform.ts';
import type { Source } from '../sources/sources.ts';

export type LinkedIdsOptions = {
  readonly store: Store;
  readonly from: Source;
  readonly fields: readonly string[];
  readonly idsIn: (record: unknown) => readonly string[];
  /** What the ids identify, for messages: `datasets`. */
  readonly field: string;
  readonly platform: string;
  readonly signal?: AbortSignal | undefined;
};

/** The ids that a published run links to, each once and sorted as text. */
export type LinkedIds = { readonly run: string; readonly ids: readonly string[] };

/** The ids that the last published run of a source links to. Throws `StoredObjectError` for none, or another platform's. */
export async function linkedIds(options: LinkedIdsOptions): Promise<LinkedIds> {
  const { store, from, field, platform } = options;
  const found = await replaceable(options, async () => {
    const latest = await readLatest(store, from);
    if (latest === undefined) return { kind: 'missing', got: 'none', of: '' } as const;
    const { run } = latest;
    const manifest = await manifestOf(store, latest.manifest, { place: from, run });
    if (isSamePlatform(manifest.platform, platform))
      return { run, ids: await idsInParts(manifest.parts, options) };
    return { kind: 'invalid', got: `run ${run} of ${manifest.platform}`, of: ` of ${platform}` } as const;
  });
  if (found.ids !== undefined) return found;
  throw new StoredObjectError(
    found.kind,
    `${store.location}: expected a published snapshot of ${from}${found.of} to take ${field} from, got ${found.got}`,
  );
}

async function idsInParts(
  parts: readonly Part[],
  { store, fields, idsIn, signal }: LinkedIdsOptions,
): Promise<readonly string[]> {
  // By the form in which equal ids are equal: of several spellings, the first is sent.
  const found = new Map<string, string>();
  const readFields = createRecordFields(fields);
  const reader = readLines({ store, parts, signal });
  try {
    for (let next = reader.next(); typeof next === 'boolean' ? next : await next; next = reader.next())
      for (const id of idsIn(readFields(reader))) {
        const canonical = canonicalId(id) ?? id;
        if (!found.has(canonical)) found.set(canonical, id);
      }
  } finally {
    await reader.close();
  }
  return [...found.values()].sort();
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
