import { placesIn } from '../../../snapshot/history/places.ts';
import type { Place } from '../../../snapshot/keys.ts';
import { isSource, sources } from '../../../snapshot/sources/sources.ts';
import type { Store } from '../../../store/index.ts';
import { tableNames } from '../../catalog/glue-tables.ts';
import type { Session, Table } from '../table.ts';
import { createQueryModel, modelTables } from './model.ts';
import { objectTables } from './objects.ts';
import { changesTable, runsTable, runTables } from './published.ts';

export function tablesOf(session: Session, places: readonly Place[]): readonly Table[] {
  const model = createQueryModel(session);
  const ofRuns = [...tableNames(places)].map(([place, name]) => runTables(session, model, place, name));
  return [
    ...ofRuns.flat(),
    ...modelTables(model),
    runsTable(session, places),
    changesTable(session, places),
    ...objectTables(session),
  ];
}

/** The places in a store that have tables: all sources, and the narrowed snapshots that have a place of their own. */
export const placesWithTables = async (store: Store): Promise<readonly Place[]> => [
  ...sources,
  ...(await placesIn(store)).filter((place) => !isSource(place)),
];
