import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { asText, type RowGroup, rowGroupsOf } from '../columns/read-columns.ts';
import { canonicalId } from '../rules/index.ts';
import { columnsOfRuns } from './columns-of-runs.ts';
import type { LastRun } from './last-runs.ts';

/** What a record says of the thing that it is; null where it says nothing. Texts are the platform's, of any length. */
export type Description = {
  /** Of a card its title, of a file its path. */
  readonly name: string | null;
  /** Of a calculation its status, of a card its type, of a file its file type, of a data file its scan state. */
  readonly type: string | null;
  readonly owner: string | null;
};

/** A record of a source. Its id is canonical, but for a file, whose id is kept as it is. */
export type Described = Description & {
  readonly source: Source;
  readonly id: string;
  /** Of a file its FileSet. */
  readonly fileset: string | null;
};

export type RecordsToDescribe = {
  readonly store: Store;
  readonly runs: readonly LastRun[];
  /** Of records with other ids only the id is read. Default: all are wanted. */
  readonly isWanted?: ((source: Source, id: string) => boolean) | undefined;
  /** Receives what is missing or damaged, in words: the rest is read. Default: it is thrown. */
  readonly addFault?: ((fault: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The records of runs in their order, by the columns of their parts: some at a time, as memory holds them. */
export async function* describedRecords(options: RecordsToDescribe): AsyncGenerator<readonly Described[]> {
  const { store, runs, isWanted, addFault, signal } = options;
  for (const run of runs) {
    const { source, place } = run;
    for (const { records } of columnsOfRuns({ store, runs: [run], signal })[source]?.parts ?? []) {
      signal?.throwIfAborted();
      try {
        for await (const group of rowGroupsOf(records.key, await records.read()))
          yield await recordsIn(group, source, isWanted);
      } catch (error) {
        if (addFault === undefined || !(error instanceof StoredObjectError)) throw error;
        addFault(`${place}: ${error.message}`);
      }
    }
  }
}

type Fields = Readonly<Record<'id' | 'name', string> & Partial<Record<'type' | 'owner' | 'fileset', string>>>;

/** The columns that say what a thing is. */
const fieldsOf: Readonly<Record<Source, Fields>> = {
  calculations: { id: 'id', name: 'name', type: 'status', owner: 'owner' },
  cards: { id: 'id', name: 'title', type: 'type', owner: 'ownerid' },
  files: { id: 'id', name: 'path', type: 'filetype', owner: 'createdby', fileset: '_filesetid' },
  'data-files': { id: 'datafileid', name: 'name', owner: 'responsibleuserid' },
};

async function recordsIn(
  group: RowGroup,
  source: Source,
  isWanted: RecordsToDescribe['isWanted'],
): Promise<readonly Described[]> {
  const fields = fieldsOf[source];
  const ids = await group.texts(fields.id, asText);
  const wanted: { readonly row: number; readonly id: string }[] = [];
  for (let row = 0; row < group.rows; row += 1) {
    const id = source === 'files' ? ids[row] : canonicalId(ids[row]);
    if (id != null && isWanted?.(source, id) !== false) wanted.push({ row, id });
  }
  if (wanted.length === 0) return [];
  const read = async (name: string | undefined) =>
    name === undefined ? [] : await group.texts(name, asText);
  const [names, owners] = [await read(fields.name), await read(fields.owner)];
  const [types, filesets] = [await read(fields.type), await read(fields.fileset)];
  const revisions = source === 'data-files' ? await group.values('currentrevision') : [];
  return wanted.map(({ row, id }) => ({
    source,
    id,
    name: names[row] ?? null,
    type: types[row] ?? scanStateOf(revisions[row]),
    owner: owners[row] ?? null,
    fileset: filesets[row] ?? null,
  }));
}

function scanStateOf(revision: unknown): string | null {
  const { scanstate } = (revision ?? {}) as { readonly scanstate?: unknown };
  return typeof scanstate === 'string' ? scanstate : null;
}
