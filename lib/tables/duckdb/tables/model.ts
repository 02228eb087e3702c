import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CurrentModel, currentModel, type ModelTable, modelColumns } from '../../../model/index.ts';
import { StoredObjectError } from '../../../store/stored-json.ts';
import { fetchFile, fileInPlace } from '../fetch-file.ts';
import { orReport } from '../or-report.ts';
import { duckDbColumns } from '../record-columns.ts';
import type { Session } from '../session.ts';
import type { DataFile, Table } from '../table.ts';

/** The model that a query reads: the same one in all of its tables. */
export type QueryModel = {
  /** Undefined, and reported, if what it is computed from is damaged. */
  readonly current: () => Promise<CurrentModel | undefined>;
  /** Its tables as files on this machine, made again where what is stored is missing or damaged. */
  readonly file: (table: ModelTable) => Promise<DataFile | undefined>;
};

export function createQueryModel(session: Session): QueryModel {
  let found: Promise<CurrentModel | undefined> | undefined;
  const renewed = (damaged?: CurrentModel) =>
    orReport(
      session,
      currentModel({
        store: session.store,
        now: Date.now,
        addFault: session.report,
        signal: session.signal,
        damaged,
      }),
    );
  const current = () => {
    found ??= renewed();
    return found;
  };
  return {
    current,
    async file(table) {
      const model = await current();
      if (model === undefined) return undefined;
      try {
        return await fileOf(session, model.tables[table]);
      } catch (error) {
        if (!(error instanceof StoredObjectError)) throw error;
        session.note(`${error.message}; it is computed again`);
      }
      // Whichever of its tables is missed first.
      if ((await current()) === model) found = renewed(model);
      const again = await current();
      return again && (await orReport(session, fileOf(session, again.tables[table])));
    },
  };
}

async function fileOf(session: Session, table: CurrentModel['tables'][ModelTable]): Promise<DataFile> {
  if (!('body' in table)) {
    const inPlace = await fileInPlace(session, table);
    const copy = inPlace ?? (await session.copies.get(table.key, (path) => fetchFile(session, table, path)));
    if (copy === undefined)
      throw new StoredObjectError('missing', `${table.key}: expected a table, got none`);
    return copy;
  }
  const path = join(session.folder, `model-${createHash('sha256').update(table.sha256).digest('hex')}`);
  await writeFile(path, table.body);
  return { path, sizeBytes: table.bytes };
}

/** The tables of the model, of one piece each. */
export const modelTables = (model: QueryModel): readonly Table[] =>
  (Object.keys(modelColumns) as ModelTable[]).map((table) => ({
    name: `stored_model_${table}`,
    columns: duckDbColumns(modelColumns[table]),
    pieceColumns: [],
    pieces: async () => [
      {
        values: [],
        async prepare() {
          const file = await model.file(table);
          return file && { bytes: file.sizeBytes, copiedBytes: 0, load: async () => [file] };
        },
      },
    ],
  }));
