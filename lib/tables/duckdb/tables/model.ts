import { type CurrentModel, type ModelTable, modelColumns, renewModel } from '../../../model/index.ts';
import { unlessDamaged } from '../../../store/index.ts';
import type { DataFile } from '../local-copies.ts';
import { storedFile, writeCopy } from '../stored-files.ts';
import type { Session, Table } from '../table.ts';

/** The model that a query reads: the same one in all of its tables. */
export type QueryModel = {
  /** Undefined, and reported, if what it is computed from is damaged. */
  readonly current: () => Promise<CurrentModel | undefined>;
  /** Its tables as files on this machine, made again where what is stored is missing or damaged. */
  readonly file: (table: ModelTable) => Promise<DataFile | undefined>;
};

export function createQueryModel(session: Session): QueryModel {
  const { store, report: addFault, signal } = session;
  let found: Promise<CurrentModel | undefined> | undefined;
  const renewed = (damaged?: CurrentModel) =>
    renewModel({ store, now: Date.now, addFault, signal, damaged }).catch(unlessDamaged(addFault));
  const current = () => {
    found ??= renewed();
    return found;
  };
  return {
    current,
    async file(table) {
      const model = await current();
      const file = model && (await fileOf(session, model.tables[table]));
      if (model === undefined || file !== undefined) return file;
      // Whichever of its tables is missed first.
      if ((await current()) === model) found = renewed(model);
      const again = await current();
      const made = again && (await fileOf(session, again.tables[table]));
      if (again !== undefined && made === undefined) addFault(`the table ${table} of the model is lost`);
      return made;
    },
  };
}

async function fileOf(session: Session, table: CurrentModel['tables'][ModelTable]) {
  if (!('body' in table)) return await storedFile(session, table);
  return await session.copies.get(`model ${table.sha256}`, (path) => writeCopy(path, table.body));
}

export const modelTables = (model: QueryModel): readonly Table[] =>
  (Object.keys(modelColumns) as ModelTable[]).map((table) => ({
    name: `stored_model_${table}`,
    columns: modelColumns[table],
    pieceColumns: [],
    pieces: async () => [
      {
        values: [],
        async files() {
          const file = await model.file(table);
          return file ? [{ bytes: file.sizeBytes, copiedBytes: 0, open: async () => file }] : [];
        },
      },
    ],
  }));
