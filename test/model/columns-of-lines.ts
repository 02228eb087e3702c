import type { ModelColumns, SourceColumns } from '../../lib/model/index.ts';
import { makeUses } from '../../lib/model/index.ts';
import { type Source, sourceDefinitions } from '../../lib/snapshot/sources/sources.ts';
import { makeParquet } from '../../lib/tables/made/make-parquet.ts';
import { storeRun } from '../snapshot/changes/stored-run.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import type { NaiveStore } from './naive.ts';
import { lineOf } from './stores.ts';

/** The columns of a run of a source with these lines, in one part or more, as publishing would make them. */
async function columnsOfLines(
  source: Source,
  lines: readonly string[],
  isWhole = true,
): Promise<SourceColumns> {
  const store = createMemoryStore();
  const { parts } = await storeRun(store, 'run', lines);
  const columns = parts.map(async (part) => {
    const records = await makeParquet({ store, part }, sourceDefinitions[source].columns);
    const isStating = source === 'calculations' || source === 'cards';
    const uses = isStating ? await makeUses(source, { store, part }) : undefined;
    return {
      records: fileOf(`${part.key}.parquet`, records.body),
      uses: uses && fileOf(`${part.key}.uses`, uses.body),
    };
  });
  return { isWhole, parts: await Promise.all(columns) };
}

function fileOf(key: string, body: Buffer) {
  const copy = new Uint8Array(body);
  return { key, read: async () => copy };
}

/** The columns of all sources of a store. */
export async function columnsOf(store: NaiveStore): Promise<ModelColumns> {
  const { calculations, cards, files, dataFiles, narrowed = [] } = store;
  const sources = { calculations, cards, files, 'data-files': dataFiles };
  const made: Partial<Record<Source, SourceColumns>> = {};
  for (const [name, records] of Object.entries(sources)) {
    const source = name as Source;
    if (records !== undefined)
      made[source] = await columnsOfLines(
        source,
        records.map(lineOf),
        !narrowed.some((each) => each === source),
      );
  }
  return made;
}
