import { recordKey } from '../snapshot/history/index.ts';
import { type Source, sourceDefinitions } from '../snapshot/sources/index.ts';
import { asText, type RowGroup } from '../tables/parquet/index.ts';
import { formulasIn } from './formulas/formula-uses.ts';
import { canonicalId, lowerCase } from './rules/record-rules.ts';
import { groupsOf, type ModelColumns } from './runs.ts';

/** The things that have records in a source, in the order of their first records. */
export type RecordedThings = {
  readonly nodes: Uint32Array;
  /** For each thing, the index of its first record in the source. */
  readonly rows: Uint32Array;
  /** The ids that are spelled differently from their canonical form, with their nodes. */
  readonly spellings: readonly (readonly [id: string, node: number])[];
};

type RecordedByKind = Readonly<Record<'calculations' | 'cards', RecordedThings>>;

/**
 * The name, type and owner of a thing, from its record; each is null if it is missing. The strings come from the
 * platform, and may have any length.
 */
export type Description = {
  /** A card's title, a file's path, or the name of any other thing. */
  readonly name: string | null;
  /** A calculation's status, a card's type, a file's file type, or a data file's scan state, in lower case. */
  readonly type: string | null;
  readonly owner: string | null;
};

/** A record of a source. Its id is in canonical form; a file's id is as the platform sent it. */
export type Described = Description & {
  readonly source: Source;
  readonly id: string;
  /** The record's key, by which snapshots are compared; undefined if it has none. */
  readonly key: string | undefined;
  /** The FileSet of a file; null for other records. */
  readonly fileset: string | null;
};

/** All records of some sources, in order, one row group at a time. */
export async function* describedRecords(columns: ModelColumns): AsyncGenerator<readonly Described[]> {
  for (const [name, of] of Object.entries(columns)) {
    const source = name as Source;
    for await (const { group } of groupsOf(of)) {
      const describe = createDescriber(group, source);
      const { key: rule } = sourceDefinitions[source].records;
      const keys: (readonly [string, (row: number) => string | null])[] = [];
      for (const field of [...(rule.owner ?? []), rule.id])
        keys.push([field, group.texts(field.toLowerCase(), asText)]);
      yield Array.from({ length: group.rows }, (_, row) => row).flatMap((row) => {
        const fields = Object.fromEntries(keys.map(([field, texts]) => [field, texts(row)]));
        const text = fields[rule.id];
        const id = source === 'files' ? text : canonicalId(text);
        return id == null ? [] : { source, id, key: recordKey(rule, fields), ...describe(row) };
      });
    }
  }
}

/**
 * The first record of each calculation or card, one row group at a time. `rows`: their rows in the group; `nodes`:
 * their nodes; `first`: the number of such records before the group.
 */
export async function* firstRecords(
  model: RecordedByKind,
  columns: ModelColumns,
  source: 'calculations' | 'cards',
) {
  const { rows: firsts, nodes } = model[source];
  let next = 0;
  for await (const { group, start } of groupsOf(columns[source])) {
    const first = next;
    while ((firsts[next] ?? Number.POSITIVE_INFINITY) < start + group.rows) next += 1;
    const rows = firsts.slice(first, next).map((row) => row - start);
    yield { group, rows, nodes: nodes.subarray(first, next), first };
  }
}

/**
 * The calculations or cards in the order of their first records, in batches, each with its node and described by its
 * first record. `isWanted`: by default all nodes are wanted.
 */
export async function* describedNodes(
  model: RecordedByKind,
  columns: ModelColumns,
  source: 'calculations' | 'cards',
  isWanted: (node: number) => boolean = () => true,
): AsyncGenerator<readonly (readonly [node: number, description: Description])[]> {
  for await (const { group, rows, nodes } of firstRecords(model, columns, source)) {
    const indexes = nodes
      .keys()
      .filter((index) => isWanted(nodes[index] ?? -1))
      .toArray();
    if (indexes.length === 0) continue;
    const describe = createDescriber(group, source);
    yield indexes.map((index) => {
      const { fileset: _, ...description } = describe(rows[index] ?? 0);
      return [nodes[index] ?? 0, description] as const;
    });
  }
}

/** The name, type and owner of the wanted calculations and cards, by node, from the first record of each. */
export async function describeNodes(
  model: RecordedByKind,
  columns: ModelColumns,
  wanted: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Description>> {
  const found = new Map<number, Description>();
  for (const source of ['calculations', 'cards'] as const)
    for await (const described of describedNodes(model, columns, source, (node) => wanted.has(node)))
      for (const [node, description] of described) found.set(node, description);
  return found;
}

/** The formulas whose text is known, with their nodes. */
export function* describedFormulas({ formulas }: { readonly formulas: Parameters<typeof formulasIn>[0] }) {
  let at = 0;
  for (const formula of formulasIn(formulas)) {
    yield { ...formula, node: formulas.nodes[at] ?? 0 };
    at += 1;
  }
}

function createDescriber(group: RowGroup, source: Source) {
  const { described, records } = sourceDefinitions[source];
  const { type, owner, fileset } = described;
  const read = (name: string | undefined) => (name === undefined ? () => null : group.texts(name, asText));
  const names = read(records.label.toLowerCase());
  const types = read(type);
  const owners = read(owner);
  const filesets = read(fileset);
  return (row: number) => ({
    name: names(row) ?? null,
    type: lowerCase(types(row) ?? null),
    owner: owners(row) ?? null,
    fileset: filesets(row) ?? null,
  });
}
