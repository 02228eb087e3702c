import { storedResults } from '../../make/make-results.ts';
import { storedTables } from '../../stored-tables.ts';
import { duckDbColumns } from '../record-columns.ts';
import type { Session } from '../session.ts';
import type { Piece, Table } from '../table.ts';
import { fileOf, pieceOfObjects } from './object-pieces.ts';

const { jobs, refused, formulas } = storedTables;

/** How jobs ended, by type and by the day on which the job was first claimed. */
export const jobsTable = (session: Session): Table => ({
  name: 'stored_jobs',
  columns: duckDbColumns(jobs.columns),
  pieceColumns: ['type', 'dt'],
  pieces: () => Array.fromAsync(jobPieces(session)),
});

async function* jobPieces(session: Session): AsyncGenerator<Piece> {
  for await (const ofType of session.store.folders(jobs.folder, session)) {
    for await (const ofDay of session.store.folders(`${ofType}/dt=`, session)) {
      const [type = '', dt = ''] = ofDay.slice(jobs.folder.length).split('/dt=');
      yield pieceOfObjects(session, {
        prefix: `${ofDay}/`,
        values: [type, dt],
        columns: jobs.columns,
        parquetOf: async (objects) =>
          (await storedResults({ type, day: dt }, objects, session)).map(({ file, parquet }) =>
            fileOf(file.objects, parquet),
          ),
      });
    }
  }
}

/** Messages that could not become jobs. */
export const refusedTable = (session: Session): Table => ({
  name: 'stored_refused',
  columns: duckDbColumns(refused.columns),
  pieceColumns: [],
  pieces: async () => [
    pieceOfObjects(session, { prefix: refused.folder, values: [], columns: refused.columns }),
  ],
});

/** Calculations as updates of ours returned them. */
export const formulasTable = (session: Session): Table => ({
  name: 'stored_formulas',
  columns: duckDbColumns(formulas.columns),
  pieceColumns: [],
  pieces: async () => [
    pieceOfObjects(session, { prefix: formulas.folder, values: [], columns: formulas.columns }),
  ],
});
