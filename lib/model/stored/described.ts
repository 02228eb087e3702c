import type { Source } from '../../snapshot/sources/sources.ts';
import { asText, type RowGroup } from '../columns/read-columns.ts';
import { groupsOf, type ModelColumns } from '../columns/run-columns.ts';
import type { Model } from '../compute/compute-model.ts';
import { canonicalId } from '../rules/index.ts';

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

/** All records of some sources, in their order: some at a time, as memory holds them. */
export async function* describedRecords(columns: ModelColumns): AsyncGenerator<readonly Described[]> {
  for (const [name, of] of Object.entries(columns)) {
    const source = name as Source;
    for await (const { group } of groupsOf(of)) {
      const describe = await readSaid(group, source);
      const ids = await group.texts(fieldsOf[source].id, asText);
      yield Array.from({ length: group.rows }, (_, row) => row).flatMap((row) => {
        const text = ids(row);
        const id = source === 'files' ? text : canonicalId(text);
        return id == null ? [] : { source, id, ...describe(row) };
      });
    }
  }
}

/** What the first records of some calculations and cards say of them, by their nodes. Only what holds these is read. */
export async function describeNodes(
  model: Pick<Model, 'calculations' | 'cards'>,
  columns: ModelColumns,
  nodes: Iterable<number>,
): Promise<ReadonlyMap<number, Description>> {
  const wanted = new Set(nodes);
  const found = new Map<number, Description>();
  for (const source of ['calculations', 'cards'] as const) {
    const held = model[source];
    const places: number[] = [];
    for (const [place, node] of held.nodes.entries()) if (wanted.has(node)) places.push(place);
    let next = 0;
    for await (const { group, start } of groupsOf(columns[source])) {
      const rowAt = (at: number) => (held.rows[places[at] ?? -1] ?? Number.POSITIVE_INFINITY) - start;
      // What lies before it is of a part that could not be read.
      while (rowAt(next) < 0) next += 1;
      if (rowAt(next) >= group.rows) continue;
      const describe = await readSaid(group, source);
      for (; rowAt(next) < group.rows; next += 1) {
        const { fileset: _, ...said } = describe(rowAt(next));
        found.set(held.nodes[places[next] ?? 0] ?? 0, said);
      }
    }
  }
  return found;
}

type Fields = Readonly<Record<'id' | 'name', string> & Partial<Record<'type' | 'owner' | 'fileset', string>>>;

/** The columns that say what a thing is. */
const fieldsOf: Readonly<Record<Source, Fields>> = {
  calculations: { id: 'id', name: 'name', type: 'status', owner: 'owner' },
  cards: { id: 'id', name: 'title', type: 'type', owner: 'ownerid' },
  files: { id: 'id', name: 'path', type: 'filetype', owner: 'createdby', fileset: '_filesetid' },
  'data-files': { id: 'datafileid', name: 'name', owner: 'responsibleuserid' },
};

async function readSaid(group: RowGroup, source: Source) {
  const fields = fieldsOf[source];
  const read = async (name: string | undefined) =>
    name === undefined ? () => null : await group.texts(name, asText);
  const [names, owners] = [await read(fields.name), await read(fields.owner)];
  const [types, filesets] = [await read(fields.type), await read(fields.fileset)];
  const revisions = source === 'data-files' ? await group.values('currentrevision') : () => null;
  return (row: number) => ({
    name: names(row) ?? null,
    type: types(row) ?? scanStateOf(revisions(row)),
    owner: owners(row) ?? null,
    fileset: filesets(row) ?? null,
  });
}

function scanStateOf(revision: unknown): string | null {
  const { scanstate } = (revision ?? {}) as { readonly scanstate?: unknown };
  return typeof scanstate === 'string' ? scanstate : null;
}
