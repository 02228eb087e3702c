import type { Place } from '../../lib/snapshot/keys.ts';
import type { Source } from '../../lib/snapshot/sources/sources.ts';
import { buildTables } from '../../lib/tables/build/build-tables.ts';
import { monday, publishLines } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';
import type { NaiveStore } from './naive.ts';
import { lineOf } from './stores.ts';

/** A store with a run of each source, as lines or also as Parquet. A narrowed source is published in two places. */
export async function publishStore(given: NaiveStore, as: 'lines' | 'parquet'): Promise<MemoryStore> {
  const store = createMemoryStore();
  const { calculations, cards, files, dataFiles, narrowed = [] } = given;
  for (const [name, records] of Object.entries({ calculations, cards, files, 'data-files': dataFiles })) {
    if (records === undefined) continue;
    const source = name as Source;
    const lines = records.map(lineOf);
    // These are the cards of every dataset that calculations link to, so a card that is not among them does not exist.
    const manifest = { selection: source === 'cards' ? { datasets: 'calculations' } : {} };
    const publish = (place: Place, some: readonly string[]) =>
      publishLines(store, { place, run: monday, lines: some, manifest });
    if (narrowed.some((each) => each === source)) {
      const half = lines.length >> 1;
      await publish(`${source}.part` as Place, lines.slice(0, half));
      await publish(`${source}.rest` as Place, lines.slice(half));
    } else await publish(source, lines);
  }
  if (as === 'parquet') {
    const making = { store, now: Date.now, isOver: () => false } as const;
    await Array.fromAsync(buildTables({ ...making, warn: () => undefined }));
  }
  return store;
}
