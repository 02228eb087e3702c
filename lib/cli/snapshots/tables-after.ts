import { readSyncSettings } from '../../settings.ts';
import type { Place } from '../../snapshot/keys.ts';
import type { Publication } from '../../snapshot/publish/publish.ts';
import { type Store, StoreError } from '../../store/index.ts';
import { openPartitions } from '../../tables/partitions/open-partitions.ts';
import { PartitionsError } from '../../tables/partitions/partitions.ts';
import { shownLines, type Terminal } from '../terminal/terminal.ts';

/** `tables`: false with `--no-tables`. */
export type TablesFlag = { readonly tables?: boolean };

export const NO_TABLES = [
  '--no-tables',
  'leave the tables of SQL to the first query, or to the command tables',
] as const;

/**
 * Makes the tables of a place once a run of it is published. What prevents that costs a warning: the run is published, and
 * whoever needs the tables makes them.
 */
export async function tablesAfter(
  { kind, manifest }: Publication,
  store: Store,
  { tables = true }: TablesFlag,
  { environment, signal, err }: Terminal,
): Promise<void> {
  if (kind !== 'published' || !tables) return;
  const warn = (what: string) =>
    err(shownLines(`warning: ${what}; to make the tables: platform-sync tables`));
  const { SYNC_GLUE_DATABASE: database } = readSyncSettings(environment);
  const { makeTables } = await import('../../tables/make/make-tables.ts');
  try {
    const making = makeTables({
      store,
      groups: [manifest.source as Place],
      partitions: openPartitions({ database, store, environment }),
      isSparse: true,
      now: Date.now,
      isOver: () => signal.aborted,
      isDry: false,
      warn: (what, reason) => warn(`${what}: ${reason.message}`),
      signal,
    });
    for await (const outcome of making)
      if (outcome.kind === 'skipped') warn(`no tables of run ${outcome.name}: ${outcome.why}`);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof StoreError || error instanceof PartitionsError)) throw error;
    warn(error.message);
  }
}
