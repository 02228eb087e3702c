import { SCORES_FOLDER } from '../../../jobs/texts/batch/batch.ts';
import { idOfSegment, type ListedObject, StoredObjectError } from '../../../store/index.ts';
import type { WithParquet } from '../../made/made-files.ts';
import { NOTHING_MADE } from '../../made/made-files.ts';
import { type LinesToMake, parquetOfLines } from '../../made/make-parquet.ts';
import { resultFiles, storedResults } from '../../make/make-results.ts';
import { type BatchParts, partsOfBatch, storedScores } from '../../make/make-scores.ts';
import type { TableColumns } from '../../parquet/fit-lines.ts';
import {
  formulaColumns,
  refusedColumns,
  resultFileColumns,
  scoreColumns,
  storedTables,
} from '../../stored-tables.ts';
import type { Session } from '../session.ts';
import { preparedFiles } from '../stored-files.ts';
import type { Piece, PreparedPiece, Table } from '../table.ts';

/** A piece of files of lines, with the Parquet of those that have it. */
const prepared = (
  session: Session,
  files: readonly WithParquet<LinesToMake>[],
  columns: TableColumns,
): PreparedPiece =>
  preparedFiles(
    session,
    files.map(({ file: { of, bytes, lines }, parquet }) => ({
      parquet,
      name: of,
      from: 'what it was made of',
      bytes,
      make: async (report) => (await parquetOfLines(lines(report), columns, report))?.body,
    })),
  );

/** How jobs ended, by type and by the day on which the job was first claimed. */
export const jobsTable = (session: Session): Table => ({
  name: 'stored_jobs',
  columns: storedTables.jobs.columns,
  pieceColumns: ['type', 'dt'],
  pieces: () => Array.fromAsync(jobPieces(session)),
});

async function* jobPieces(session: Session): AsyncGenerator<Piece> {
  const { store } = session;
  const { folder } = storedTables.jobs;
  for await (const ofType of store.folders(folder, session))
    for await (const ofDay of store.folders(`${ofType}/dt=`, session)) {
      const [type = '', day = ''] = ofDay.slice(folder.length).split('/dt=');
      yield {
        values: [type, day],
        prepare: async () => {
          const objects = await objectsIn(session, `${ofDay}/`);
          return prepared(session, await storedResults({ type, day }, objects, session), resultFileColumns);
        },
      };
    }
}

/** The objects of JSON below a prefix. */
const objectsIn = async ({ store, signal }: Session, prefix: string): Promise<readonly ListedObject[]> =>
  (await Array.fromAsync(store.list(prefix, { signal }))).filter(({ key }) => key.endsWith('.json'));

/** Messages that could not become jobs, and calculations as updates of ours returned them. */
export const objectTables = (session: Session): readonly Table[] =>
  (
    [
      ['refused', refusedColumns],
      ['formulas', formulaColumns],
    ] as const
  ).map(([name, columns]) => ({
    name: `stored_${name}`,
    columns: storedTables[name].columns,
    pieceColumns: [],
    pieces: async () => [
      {
        values: [],
        prepare: async () => {
          const objects = await objectsIn(session, storedTables[name].folder);
          const files = await Array.fromAsync(resultFiles({ ...session, objects }, NOTHING_MADE));
          return prepared(
            session,
            files.map((file) => ({ file, parquet: undefined })),
            columns,
          );
        },
      },
    ],
  }));

const { batch: _, ...ownColumns } = storedTables.scores.columns;

/** The texts of all batches, a piece for each batch. */
export const scoresTable = (session: Session): Table => ({
  name: 'stored_scores',
  columns: ownColumns,
  pieceColumns: ['batch'],
  pieces: () => Array.fromAsync(batchPieces(session)),
});

async function* batchPieces(session: Session): AsyncGenerator<Piece> {
  for await (const folder of session.store.folders(SCORES_FOLDER, session)) {
    const segment = folder.slice(SCORES_FOLDER.length);
    const batch = idOfSegment(segment);
    if (batch === undefined) continue;
    yield {
      values: [batch],
      prepare: async () => {
        const parts = await partsIn(session, `${folder}/`);
        return prepared(session, await storedScores(segment, parts, session), scoreColumns);
      },
    };
  }
}

/** The parts of a batch: those of a finished one, if these are all that there are. One that is being scored has others beside. */
async function partsIn({ store, signal }: Session, folder: string): Promise<BatchParts> {
  const listed = await Array.fromAsync(store.list(`${folder}part-`, { signal }));
  try {
    const finished = await partsOfBatch(store, folder);
    if (finished?.parts.length === listed.length) return finished;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
  }
  return { parts: listed };
}
