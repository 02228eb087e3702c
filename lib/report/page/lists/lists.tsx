import { brokenFlags } from '../../../model/flags.ts';
import { reach } from '../../../model/graph/closure.ts';
import { calculationFlags, cardFlags, ownedCounts } from '../../facts.ts';
import { flagWords } from '../../flag-words.ts';
import { hashOf, type View } from '../state/hash.ts';
import type { Report } from '../state/report.ts';
import { columnKinds, type Rows } from './columns.tsx';
import type { Column } from './table.tsx';

type Columns = Readonly<Record<string, readonly unknown[]>>;

type Listed = { readonly total: number; readonly isWhole: boolean; readonly columns: Columns };

type ValueIn = (name: string) => unknown;

type Definition = {
  /** What one of them is called. */
  readonly one: string;
  /** Which are listed, if not all: `largest`. */
  readonly which?: string;
  /** Which order it has at first, as in an address. */
  readonly sort: string;
  /** What to read where there is nothing. Default: that the last snapshot holds none. */
  readonly empty?: string;
  /** What is listed; undefined where no snapshot of it is published. */
  readonly of: (report: Report) => Listed | undefined;
  /** The source whose snapshot holds it. Default: `calculations`. */
  readonly source?: string;
  /** What the rows are, where all are of one kind. */
  readonly kind?: ReturnType<Rows['kindAt']>;
  /** The first names the row. */
  readonly columns: readonly (readonly [name: string, label: string, kind: keyof typeof columnKinds])[];
  /** The flags that the column `flags` has, as bits. */
  readonly bits?: Readonly<Partial<Record<keyof typeof flagWords, number>>>;
  /** Other properties by which rows can be selected; `meaning` is a sentence. */
  readonly flags?: readonly {
    readonly name: string;
    readonly label: string;
    readonly meaning?: string;
    readonly has: (valueIn: ValueIn) => boolean;
  }[];
  readonly hrefOf?: (name: string, valueIn: ValueIn) => string | undefined;
};

/** What may be wrong with what somebody owns. Cards have the model's flags alone. */
const { broken_links, invalid, missing_target, affected, unused, locked } = calculationFlags;
const ownedBits = { broken_links, invalid, missing_target, affected, unused, locked };
const CARD_BITS = missing_target | affected;

const titleOf = (name: string): string =>
  name.replace('_', ' ').replace(/^./, (first) => first.toUpperCase());

const definitions: Partial<Readonly<Record<View, Definition>>> = {
  calculations: {
    of: ({ facts }) => facts.calculations?.list,
    one: 'calculation',
    kind: 'calculation',
    which: 'most notable',
    columns: [
      ['name', 'Name', 'thing'],
      ['id', 'Id', 'text'],
      ['status', 'Status', 'facet'],
      ['owner', 'Owner', 'owner'],
      ['modified', 'Last changed', 'day'],
      ['flags', 'Notes', 'flags'],
    ],
    bits: calculationFlags,
    sort: 'name',
  },
  cards: {
    of: ({ facts }) => facts.cards?.list,
    source: 'cards',
    one: 'card',
    kind: 'card',
    which: 'most notable',
    columns: [
      ['title', 'Title', 'thing'],
      ['id', 'Id', 'text'],
      ['type', 'Type', 'facet'],
      ['owner', 'Owner', 'owner'],
      ['dataset', 'Dataset', 'dataset'],
      ['flags', 'Notes', 'flags'],
    ],
    bits: cardFlags,
    sort: 'title',
  },
  datasets: {
    of: ({ facts }) => facts.datasets?.list,
    one: 'dataset',
    kind: 'dataset',
    which: 'most used',
    columns: [
      ['id', 'Id', 'thing'],
      ['cards', 'Cards', 'count'],
      ['calculations', 'Calculations', 'count'],
      ['broken_links', 'Broken links to it', 'count'],
    ],
    flags: [
      { name: 'broken_links', label: 'broken links to it', has: (valueIn) => valueIn('broken_links') !== 0 },
      { name: 'no-cards', label: 'without cards', has: (valueIn) => valueIn('cards') === 0 },
    ],
    hrefOf: (name, valueIn) =>
      name === 'cards' ? hashOf('cards', { dataset: String(valueIn('id')) }) : undefined,
    sort: '-cards',
    empty: 'No calculation and no card names a dataset.',
  },
  files: {
    of: ({ facts }) => facts.files?.list,
    source: 'files',
    one: 'file',
    which: 'largest',
    columns: [
      ['path', 'Path', 'text'],
      ['fileset', 'FileSet', 'facet'],
      ['type', 'Type', 'facet'],
      ['size', 'Size', 'bytes'],
      ['created', 'Created', 'day'],
    ],
    sort: '-size',
  },
  'data-files': {
    of: ({ facts }) => facts.dataFiles?.list,
    source: 'data-files',
    one: 'data file',
    columns: [
      ['name', 'Name', 'text'],
      ['id', 'Id', 'text'],
      ['scan', 'Scan state', 'facet'],
      ['size', 'Size', 'bytes'],
      ['created', 'Created', 'day'],
    ],
    sort: 'name',
  },
  owners: {
    of: ({ facts: { owners } }) =>
      owners && { ...owners.list, columns: { ...owners.list.columns, name: owners.list.columns.id } },
    one: 'owner',
    columns: [
      ['name', 'Owner', 'owner'],
      ['id', 'Id', 'text'],
      ...ownedCounts.map((name) => [name, titleOf(name), 'count'] as const),
      ['oldest_modified', 'Oldest change', 'day'],
    ],
    flags: [
      {
        name: 'wrong',
        label: 'something wrong',
        meaning: 'Something that they own has broken links or a missing target, is invalid, or is affected.',
        has: (valueIn) => brokenFlags.some((name) => valueIn(name) !== 0),
      },
    ],
    // What is wrong is selected from what they own.
    hrefOf: (name, valueIn) =>
      name in ownedBits && valueIn(name) !== 0
        ? hashOf('owned', { owner: String(valueIn('id')), flag: name })
        : undefined,
    sort: '-calculations',
    empty: 'No record names an owner.',
  },
  owned: {
    of: ownedIn,
    one: 'thing',
    which: 'most notable',
    columns: [
      ['name', 'Name', 'thing'],
      ['kind', 'Kind', 'facet'],
      ['id', 'Id', 'text'],
      ['owner', 'Owner', 'owner'],
      ['modified', 'Last changed', 'day'],
      ['flags', 'Notes', 'flags'],
    ],
    bits: ownedBits,
    sort: '-flags',
    empty: 'The last snapshots hold no calculation and no card.',
  },
  broken: {
    of: brokenIn,
    one: 'broken link',
    columns: [
      ['user', 'Who refers', 'node'],
      ['relation', 'How', 'facet'],
      ['used', 'To what', 'kindAndNode'],
      ['valid', 'The link is', 'facet'],
      ['reaches', 'Depend on it', 'count'],
    ],
    sort: '-reaches',
    empty: 'Every link of every calculation is valid.',
  },
};

/** The calculations and cards that somebody owns, with what is wrong with them. */
function ownedIn({ facts: { calculations, cards } }: Report): Listed | undefined {
  if (calculations === undefined && cards === undefined) return undefined;
  const [own, other] = [calculations?.list.columns, cards?.list.columns];
  const both = <T,>(first: readonly T[] = [], second: readonly T[] = []) => [...first, ...second];
  const columns = {
    kind: both(
      own?.id.map(() => 'calculation'),
      other?.id.map(() => 'card'),
    ),
    id: both(own?.id, other?.id),
    name: both(own?.name, other?.title),
    owner: both<string | readonly string[]>(own?.owner, other?.owner),
    modified: own?.modified ?? [],
    flags: both(
      own?.flags,
      other?.flags.map((bits) => bits & CARD_BITS),
    ),
  };
  const total = (calculations?.total ?? 0) + (cards?.total ?? 0);
  return { total, isWhole: columns.id.length === total, columns };
}

/** The links that are not VALID: whose they are, what they name, and how much depends on whoever has them. */
function brokenIn({ facts: { calculations, graph }, edges, edgeAt }: Report): Listed | undefined {
  if (calculations === undefined) return undefined;
  // Counted once for each node.
  const known = new Map<number, number>();
  const reachesOf = (node: number) => {
    const many = known.get(node) ?? reach(edges.users, [node]).nodes.length;
    known.set(node, many);
    return many;
  };
  const ends = graph.invalid.map(([edge]) => edgeAt(edge));
  const columns = {
    user: ends.map(({ user }) => user),
    relation: ends.map(({ relation }) => relation),
    used: ends.map(({ used }) => used),
    valid: graph.invalid.map(([, valid]) => valid),
    reaches: graph.invalid.map(([edge]) => reachesOf(graph.user[edge] ?? 0)),
    id: ends.map(({ user, used }) => `${user?.name} ${user?.id} ${used?.name} ${used?.id}`),
  };
  const total = calculations.brokenLinks;
  return { total, isWhole: ends.length === total, columns };
}

/** A list of the page, and the command that makes what it is of; undefined for a view that is none. */
export function listOf(view: View, report: Report) {
  const definition = definitions[view];
  if (definition === undefined) return undefined;
  const command = `platform-sync snapshot ${definition.source ?? 'calculations'}`;
  const found = definition.of(report);
  return { command, list: found && made(definition, found, report) };
}

/** A list as the page shows it: rows are numbered from 0, and `total` is how many there are on the platform. */
export type List = ReturnType<typeof made>;

function made(definition: Definition, { total, isWhole, columns }: Listed, { ownerOf }: Report) {
  const { bits = {}, kind, flags = [], hrefOf, columns: shown } = definition;
  const names = Object.keys(bits) as (keyof typeof flagWords)[];
  const valueAt = (row: number) => (name: string) => columns[name]?.[row];
  const rows: Rows = {
    ownerOf,
    idAt: (row) => String(columns['id']?.[row]),
    kindAt: (row) => kind ?? (columns['kind']?.[row] as ReturnType<Rows['kindAt']>),
    flagsIn: (of) => names.filter((name) => (of & (bits[name] ?? 0)) !== 0),
    hrefOf: hrefOf && ((name, row) => hrefOf(name, valueAt(row))),
  };
  const column = ([name, label, how]: Definition['columns'][number], at: number): Column => ({
    name,
    label,
    isHeading: at === 0,
    ...columnKinds[how]((columns[name] ?? []) as never, rows, name),
  });
  const heading = column(shown[0] ?? ['', '', 'text'], 0);
  return {
    empty: `The last snapshot holds no ${definition.one}.`,
    ...definition,
    length: columns[heading.name]?.length ?? 0,
    total,
    isWhole,
    columns: shown.map(column),
    flags: [
      ...flags.map(({ has, ...flag }) => ({ ...flag, has: (row: number) => has(valueAt(row)) })),
      ...names.map((name) => ({
        name,
        ...flagWords[name],
        has: (row: number) => (Number(columns['flags']?.[row]) & (bits[name] ?? 0)) !== 0,
      })),
    ],
    /** What the search looks into. */
    textOf: (row: number) => `${heading.text(row)} ${columns['id']?.[row] ?? ''}`,
  };
}
