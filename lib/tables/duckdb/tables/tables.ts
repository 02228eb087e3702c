import { type Place, parsePlace } from '../../../snapshot/keys.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import type { Store } from '../../../store/store.ts';
import type { Session } from '../session.ts';
import type { Table } from '../table.ts';
import { changesTable } from './changes.ts';
import { jobsTable, refusedTable } from './jobs.ts';
import { runTables } from './run-tables.ts';
import { runsTable } from './runs.ts';
import { scoresTable } from './scores.ts';

/** All tables over a store with these places, in the order in which they are listed. */
export function tablesOf(session: Session, places: readonly Place[]): readonly Table[] {
  const ofRuns = [...tableNames(places)].map(([place, name]) => runTables(session, place, name));
  return [
    ...ofRuns.flat(),
    runsTable(session, places),
    changesTable(session, places),
    jobsTable(session),
    refusedTable(session),
    scoresTable(session),
  ];
}

/** The places in a store: all sources, and the narrowed snapshots that have a place of their own. */
export async function placesIn(store: Store): Promise<readonly Place[]> {
  const narrowed: Place[] = [];
  for await (const folder of store.folders('')) {
    const place = parsePlace(folder);
    if (place?.includes('.')) narrowed.push(place);
  }
  return [...sources, ...narrowed.sort()];
}

/** Names of tables, which SQL needs no quotes for: `files.reports-1` is `files_reports_1`. */
function tableNames(places: readonly Place[]): ReadonlyMap<Place, string> {
  const names = new Map<Place, string>();
  const taken = new Set<string>();
  for (const place of places) {
    const plain = place.toLowerCase().replaceAll(/[^\p{L}\p{N}_]/gu, '_');
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}_${number}`;
    taken.add(name);
    names.set(place, name);
  }
  return names;
}
