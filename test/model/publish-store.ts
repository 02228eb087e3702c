import { createHash } from 'node:crypto';
import { type Place, parquetFolder, parquetName } from '../../lib/snapshot/keys.ts';
import type { ParquetPart } from '../../lib/snapshot/manifest.ts';
import { makeParquet } from '../../lib/snapshot/publish/make-parquet.ts';
import { type Source, sourceDefinitions } from '../../lib/snapshot/sources/sources.ts';
import type { Store } from '../../lib/store/store.ts';
import { parquetFormat } from '../../lib/tables/parquet/parquet-format.ts';
import { monday, publishLines } from '../snapshot/changes/publish-lines.ts';
import { storeRun } from '../snapshot/changes/stored-run.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';
import type { NaiveStore } from './naive.ts';
import { lineOf } from './stores.ts';

/** A store with a run of each source, as lines alone or with their Parquet; a narrowed one at a place of its own. */
export async function publishStore(given: NaiveStore, as: 'lines' | 'parquet'): Promise<MemoryStore> {
  const store = createMemoryStore();
  const { calculations, cards, files, dataFiles, narrowed = [] } = given;
  for (const [name, records] of Object.entries({ calculations, cards, files, 'data-files': dataFiles })) {
    if (records === undefined) continue;
    const source = name as Source;
    const place = (narrowed.some((each) => each === source) ? `${source}.part` : source) as Place;
    const lines = records.map(lineOf);
    const parquet = as === 'parquet' ? await parquetOf(store, place, source, lines) : undefined;
    // The cards of every dataset that calculations link to: what they lack does not exist.
    const selection = source === 'cards' ? { datasets: 'calculations' } : {};
    await publishLines(store, {
      place,
      run: monday,
      lines,
      manifest: { selection, ...(parquet && { parquet }) },
    });
  }
  return store;
}

async function parquetOf(store: Store, place: Place, source: Source, lines: readonly string[]) {
  const { columns } = sourceDefinitions[source];
  const made: ParquetPart[] = [];
  const { parts } = await storeRun(store, 'work', lines);
  for (const part of parts) {
    const { body, records, other } = await makeParquet({ store, part }, columns);
    await store.delete(part.key);
    const sha256 = createHash('sha256').update(body).digest('hex');
    const key = `${parquetFolder(place, monday)}${parquetName(made.length, sha256, 1)}`;
    await store.put(key, body);
    made.push({ key, records, bytes: body.byteLength, sha256, other });
  }
  return {
    format: parquetFormat(columns),
    parts: made,
    other: made.reduce((sum, { other }) => sum + other, 0),
  };
}
