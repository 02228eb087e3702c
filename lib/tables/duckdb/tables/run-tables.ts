import { publishedKeys } from '../../../snapshot/changes/published-runs.ts';
import { type Place, sourceOf } from '../../../snapshot/keys.ts';
import { readLatest } from '../../../snapshot/manifest.ts';
import { sourceDefinitions } from '../../../snapshot/sources/sources.ts';
import { gluePartitionKeys } from '../../catalog/glue-tables.ts';
import { orReport } from '../or-report.ts';
import { preparePartFiles, type RunAt } from '../part-files.ts';
import { duckDbColumns } from '../record-columns.ts';
import type { Session } from '../session.ts';
import type { Piece, Table } from '../table.ts';
import type { QueryModel } from './model.ts';

/** What is stored of a place, by the name of its table: its latest run, and all of its published runs. */
export function runTables(session: Session, model: QueryModel, place: Place, name: string): readonly Table[] {
  const shared = {
    columns: duckDbColumns(sourceDefinitions[sourceOf(place)].columns),
    pieceColumns: gluePartitionKeys,
  };
  return [
    {
      ...shared,
      name: `stored_latest_${name}`,
      pieces: (reads) => latestPieces(session, place, reads(MODEL) ? model : undefined),
    },
    { ...shared, name: `stored_${name}`, pieces: () => allPieces(session, place) },
  ];
}

const MODEL = /^stored_model_/;

/** The latest run: of a query that reads the model, the one that it was computed over. */
async function latestPieces(
  session: Session,
  place: Place,
  model: QueryModel | undefined,
): Promise<readonly Piece[]> {
  const ofModel = (await model?.current())?.runs[place];
  const latest = ofModel ?? (await orReport(session, readLatest(session.store, place)));
  return latest === undefined ? [] : [pieceOf(session, place, latest)];
}

async function allPieces(session: Session, place: Place): Promise<readonly Piece[]> {
  const runs = await orReport(session, publishedKeys(session.store, place, session));
  return (runs ?? []).map((run) => pieceOf(session, place, run));
}

/** The day of a run is in the key of its manifest. */
export const dayOf = ({ manifest }: RunAt): string => /\/dt=([^/]+)\//.exec(manifest)?.[1] ?? '';

const pieceOf = (session: Session, place: Place, at: RunAt): Piece => ({
  values: [dayOf(at), at.run],
  prepare: () => preparePartFiles(session, place, at),
});
