import { once } from '../../base/index.ts';
import { createUsesMaker, isStating, storedUses, usesKey, usesOfPart } from '../../model/index.ts';
import { type Place, publishedFolder, sourceOf } from '../../snapshot/keys.ts';
import type { Part } from '../../snapshot/manifest.ts';
import { type Run, runOfId } from '../../snapshot/run-id.ts';
import { sourceDefinitions } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import { madeOf, type RecordedParquet, readMade, soundParquet } from '../made/made-files.ts';
import { createParquetMaker } from '../made/make-parquet.ts';
import type { MadeParquet } from '../parquet/parquet-writer.ts';

export type PartFilesOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly at: Run;
  /** Runs that may have parts with the same bytes. */
  readonly neighbours: readonly string[];
  readonly signal?: AbortSignal | undefined;
};

/** The folder of the uses of a run. Ends in a slash. */
export const usesFolder = (place: Place, run: Run) => `parquet/uses/${publishedFolder(place, run)}`;

/** What is made of each part of a run: its Parquet and its uses, copied from a neighbour if that has the same part. */
export async function openPartFiles({ store, place, at, neighbours, signal }: PartFilesOptions) {
  const source = sourceOf(place);
  const uses = isStating(source) ? createUsesMaker(source) : undefined;
  const makeParquet = once(async () => createParquetMaker(sourceDefinitions[source].columns));
  const known = once(() => filesOf(store, place, neighbours.map(runOfId)));
  const stored = new Set<string>();
  if (uses !== undefined) for await (const { key } of store.list(usesFolder(place, at))) stored.add(key);
  const lacksUses = (part: Part) => uses !== undefined && !stored.has(usesKey(part));

  async function putUses(part: Part, body: Uint8Array): Promise<void> {
    await store.put(usesKey(part), body, { contentType: 'application/octet-stream' });
    stored.add(usesKey(part));
  }

  return {
    lacksUses,
    /** The Parquet of a part, to be stored. If its uses are missing, they are taken from the same lines, and stored. */
    async parquet(part: Part): Promise<MadeParquet> {
      const equal = (await known()).parquet.get(madeOf(place, part));
      const body = await soundParquet(store, equal);
      if (equal !== undefined && body !== undefined)
        return { body, records: equal.records, other: equal.other };
      const make = await makeParquet();
      if (uses === undefined || !lacksUses(part)) return await make({ store, part, signal });
      const made = await make({ store, part, signal, use: uses.add });
      await putUses(part, uses.end());
      return made;
    },
    /** Stores the uses of a part. */
    async uses(part: Part): Promise<void> {
      const equal = (await known()).uses.get(contentOf(usesKey(part)));
      const copied = equal === undefined ? undefined : await storedUses(store, equal);
      if (copied !== undefined) await putUses(part, copied.body);
      else if (isStating(source)) await usesOfPart({ store, source, part, signal });
    },
  };
}

/** What runs have of their parts: Parquet by what it was made of, the keys of uses by the hash of their parts. */
async function filesOf(store: Store, place: Place, runs: readonly Run[]) {
  const parquet = new Map<string, RecordedParquet>();
  const uses = new Map<string, string>();
  for (const run of runs) {
    for (const file of await readMade(store, place, run)) parquet.set(file.of, file);
    for await (const { key } of store.list(usesFolder(place, run))) uses.set(contentOf(key), key);
  }
  return { parquet, uses };
}

/** What the key of uses says of their content: the hash of the part, and the format. */
const contentOf = (key: string): string =>
  key.replace(/^.*\/part-\d+-([0-9a-f]+)(?:-\d+)?-([0-9a-f]+)\./, '$1 $2 ');
