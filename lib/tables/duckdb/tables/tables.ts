import { type Place, parsePlace } from '../../../snapshot/keys.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import type { Store } from '../../../store/store.ts';
import { tableNames } from '../../catalog/catalog.ts';
import type { Session } from '../session.ts';
import type { Table } from '../table.ts';
import { changesTable } from './changes.ts';
import { formulasTable, jobsTable, refusedTable } from './jobs.ts';
import { createQueryModel, modelTables } from './model.ts';
import { runTables } from './run-tables.ts';
import { runsTable } from './runs.ts';
import { scoresTable } from './scores.ts';

/** All that is stored in a store with these places. */
export function tablesOf(session: Session, places: readonly Place[]): readonly Table[] {
  const model = createQueryModel(session);
  const ofRuns = [...tableNames(places)].map(([place, name]) => runTables(session, model, place, name));
  return [
    ...ofRuns.flat(),
    ...modelTables(model),
    runsTable(session, places),
    changesTable(session, places),
    jobsTable(session),
    refusedTable(session),
    scoresTable(session),
    formulasTable(session),
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
