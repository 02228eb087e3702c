import { parseJson } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { partLines } from '../changes/part-lines.ts';
import { readLatest, readManifest } from '../manifest.ts';
import type { Source } from '../sources/sources.ts';

/** Ids that the records of a source link to, and the published run that they were read from. */
export type LinkedIds = { readonly ids: readonly string[]; readonly run: string };

export type LinkedIdsOptions = {
  readonly store: Store;
  readonly from: Source;
  /** The ids that one record links to. */
  readonly idsIn: (record: unknown) => readonly string[];
  /** What the ids identify, for messages: `datasets`. */
  readonly field: string;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The ids that the last published run of a whole source links to, each once and sorted as text. Throws
 * `StoredObjectError` if no run has been published.
 */
export async function linkedIds({ store, from, idsIn, field, signal }: LinkedIdsOptions): Promise<LinkedIds> {
  const latest = await readLatest(store, from);
  if (latest === undefined) {
    throw new StoredObjectError(
      'missing',
      `${store.location}: expected a published snapshot of ${from} to take ${field} from, got none`,
    );
  }
  const { parts } = await readManifest(store, latest.manifest);
  const ids = new Set<string>();
  for (const part of parts) {
    for await (const lines of partLines({ store, part, signal })) {
      for (const line of lines) for (const id of idsIn(parseJson(line))) ids.add(id);
    }
  }
  return { ids: [...ids].sort(), run: latest.run };
}
