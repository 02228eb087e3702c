import type { ComponentChildren, ComponentProps } from 'preact';
import { brokenFlags, reach } from '../../../model/rules/index.ts';
import { calculationFlags, cardFlags, flagWords, ownedCounts, type ReportFacts } from '../../facts.ts';
import { Badges, NodeLink } from '../parts/parts.tsx';
import { hashOf, type View } from '../state/hash.ts';
import type { Report } from '../state/report.ts';
import { bytes, count, day } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import type { Column } from './table.tsx';

/** A list as the page shows it. Rows are numbered from 0. */
export type List = {
  /** The noun for one entry, such as `card`. */
  readonly one: string;
  /** The number of entries that a complete list would have. */
  readonly total: number;
  readonly isWhole: boolean;
  /** Which entries an incomplete list consists of, such as `largest`. Default: `first`. */
  readonly which?: string;
  /** The initial order, as in an address: the name of a column, after `-` for descending order. */
  readonly sort: string;
  /** What an empty list says. Default: that the last snapshot has no such entry. */
  readonly empty?: string;
  /** The ids, one for each row. A search looks in these and in the first column. */
  readonly ids: readonly string[];
  /** The columns; the first one names the row. */
  readonly columns: readonly Column[];
  /** The properties by which rows can be filtered; `meaning` is a sentence. */
  readonly flags?: readonly Flag[];
};

type Flag = {
  readonly name: string;
  readonly label: string;
  readonly meaning?: string;
  readonly has: (row: number) => boolean;
};

type ListedFact = 'calculations' | 'cards' | 'datasets' | 'files' | 'dataFiles' | 'owners';

type ColumnsOf<N extends ListedFact> = NonNullable<ReportFacts[N]>['list']['columns'];

/** Returns a function that turns a list in the facts into a list of the page. */
const listing =
  <N extends ListedFact>(
    name: N,
    shown: (columns: ColumnsOf<N>, report: Report) => Omit<List, 'total' | 'isWhole'>,
  ) =>
  (report: Report): List | undefined => {
    const list = report.facts[name]?.list;
    return list && { ...list, ...shown(list.columns as ColumnsOf<N>, report) };
  };

/** A column of links to things of one kind, by id and name. */
const named = (
  kind: ComponentProps<typeof NodeLink>['kind'],
  ids: readonly string[],
  names: readonly string[] = [],
): Shown => things((row) => ({ kind, id: ids[row] ?? '', name: names[row] ?? '' }));

/** A column of strings. */
export const texts = (of: readonly unknown[]): Shown => ({ text: (row) => String(of[row] ?? '') });

/** A column of strings by which rows can be filtered. */
const facets = (of: readonly unknown[]): Shown => {
  const text = (row: number) => String(of[row] ?? '');
  return { text, values: (row) => [text(row)] };
};

const linkedTo = (href: string | undefined, content: ComponentChildren) =>
  href === undefined ? content : <a href={href}>{content}</a>;

/** A column of days, from times in epoch milliseconds. */
const days = (of: readonly (number | null)[]): Shown => ({
  text: (row) => day(of[row]),
  number: (row) => of[row] ?? null,
  isDay: true,
});

/** A column of flags, as badges. */
const badges = (of: readonly number[], bits: Bits): Shown => ({
  text: (row) => namesIn(of[row] ?? 0, bits).join(' '),
  number: (row) => of[row] ?? 0,
  cell: (row) => <Badges names={namesIn(of[row] ?? 0, bits)} />,
});

const flagsOf = (flags: readonly number[], bits: Bits): readonly Flag[] =>
  (Object.keys(bits) as (keyof Bits)[]).map((name) => ({
    name,
    ...flagWords[name],
    has: (row) => ((flags[row] ?? 0) & (bits[name] ?? 0)) !== 0,
  }));

const datasets = (of: readonly string[]): Shown => ({
  ...facets(of),
  cell: (row) => (of[row] ? <NodeLink kind="dataset" id={of[row]} name={of[row]} /> : '–'),
});

/** The flags that are shown for an owner's things. For cards, only the flags of the model are. */
const { broken_links, invalid, missing_target, affected, unused, locked } = calculationFlags;

/** A column of numbers. `hrefOf`: returns the address of the things that a number counts. */
export const numbers = (of: readonly number[], hrefOf?: (row: number) => string | undefined): Shown => ({
  ...printed(of, count),
  ...(hrefOf && { cell: (row) => linkedTo(hrefOf(row), count(of[row] ?? 0)) }),
});

const sizes = (of: readonly (number | null)[]): Shown => printed(of, bytes);

const ownedBits = { broken_links, invalid, missing_target, affected, unused, locked };

const titleOf = (name: string): string =>
  name.replace('_', ' ').replace(/^./, (first) => first.toUpperCase());

/** The lists of the page, by view. A list is undefined if no snapshot of its records is published. */
const lists = {
  calculations: listing('calculations', ({ id, name, status, owner, modified, flags, ...list }, report) => ({
    one: 'calculation',
    which: 'most notable',
    sort: 'name',
    ids: id,
    columns: [
      { name: 'name', label: 'Name', ...named('calculation', id, name) },
      { name: 'id', label: 'Id', ...texts(id) },
      { name: 'status', label: 'Status', ...facets(status) },
      { name: 'owner', label: 'Owner', ...owners(owner, report) },
      { name: 'modified', label: 'Last changed', ...days(modified) },
      { name: 'since', label: 'Broken since', ...days(list.brokenSince) },
      { name: 'unused', label: 'Unused since', ...days(list.unusedSince) },
      { name: 'flags', label: 'Notes', ...badges(flags, calculationFlags) },
    ],
    flags: flagsOf(flags, calculationFlags),
  })),

  cards: listing('cards', ({ id, title, type, owner, dataset, flags }, report) => ({
    one: 'card',
    which: 'most notable',
    sort: 'title',
    ids: id,
    columns: [
      { name: 'title', label: 'Title', ...named('card', id, title) },
      { name: 'id', label: 'Id', ...texts(id) },
      { name: 'type', label: 'Type', ...facets(type) },
      { name: 'owner', label: 'Owner', ...owners(owner, report) },
      { name: 'dataset', label: 'Dataset', ...datasets(dataset) },
      { name: 'flags', label: 'Notes', ...badges(flags, cardFlags) },
    ],
    flags: flagsOf(flags, cardFlags),
  })),

  datasets: listing('datasets', ({ id, cards, calculations, broken_links }) => {
    const cardsOf = (row: number) => hashOf('cards', { dataset: id[row] ?? '' });
    return {
      one: 'dataset',
      which: 'most used',
      sort: '-cards',
      ids: id,
      empty: 'No calculation and no card refers to a dataset.',
      columns: [
        { name: 'id', label: 'Id', ...named('dataset', id) },
        { name: 'cards', label: 'Cards', ...numbers(cards, cardsOf) },
        { name: 'calculations', label: 'Calculations', ...numbers(calculations) },
        { name: 'broken_links', label: 'Broken links to it', ...numbers(broken_links) },
      ],
      flags: [
        { name: 'broken_links', label: 'broken links to it', has: (row) => broken_links[row] !== 0 },
        { name: 'no-cards', label: 'without cards', has: (row) => cards[row] === 0 },
      ],
    };
  }),

  files: listing('files', ({ path, fileset, type, status, owner, size, created }, report) => ({
    one: 'file',
    which: 'largest',
    sort: '-size',
    ids: path,
    columns: [
      { name: 'path', label: 'Path', ...texts(path) },
      { name: 'fileset', label: 'FileSet', ...facets(fileset) },
      { name: 'type', label: 'Type', ...facets(type) },
      { name: 'status', label: 'Index status', ...facets(status) },
      { name: 'owner', label: 'Owner', ...owners(owner, report) },
      { name: 'size', label: 'Size', ...sizes(size) },
      { name: 'created', label: 'Created', ...days(created) },
    ],
  })),

  'data-files': listing('dataFiles', ({ name, id, scan, owner, size, created }, report) => ({
    one: 'data file',
    sort: 'name',
    ids: id,
    columns: [
      { name: 'name', label: 'Name', ...named('data-file', id, name) },
      { name: 'id', label: 'Id', ...texts(id) },
      { name: 'scan', label: 'Scan state', ...facets(scan) },
      { name: 'owner', label: 'Owner', ...owners(owner, report) },
      { name: 'size', label: 'Size', ...sizes(size) },
      { name: 'created', label: 'Created', ...days(created) },
    ],
  })),

  owners: listing('owners', (columns, report) => {
    // If a count is about a flag, it links to the things with this flag.
    const ownedBy = (name: (typeof ownedCounts)[number]) => (row: number) =>
      name in ownedBits && columns[name][row] !== 0
        ? hashOf('owned', { owner: columns.id[row] ?? '', flag: name })
        : undefined;
    return {
      one: 'owner',
      sort: '-calculations',
      ids: columns.id,
      empty: 'No record has an owner.',
      columns: [
        { name: 'name', label: 'Owner', ...owners(columns.id, report) },
        { name: 'id', label: 'Id', ...texts(columns.id) },
        ...ownedCounts.map((name) => ({
          name,
          label: titleOf(name),
          ...numbers(columns[name], ownedBy(name)),
        })),
        { name: 'oldest_modified', label: 'Oldest change', ...days(columns.oldest_modified) },
      ],
      flags: [
        {
          name: 'wrong',
          label: 'something wrong',
          meaning:
            'Something that they own has broken links or a missing target, is invalid, or is affected.',
          has: (row) => brokenFlags.some((name) => columns[name][row] !== 0),
        },
      ],
    };
  }),

  /** All calculations and cards, to be filtered by owner. */
  owned(report: Report): List | undefined {
    const { calculations, cards } = report.facts;
    if (calculations === undefined && cards === undefined) return undefined;
    const own = calculations?.list.columns;
    const other = cards?.list.columns;
    const first = own?.id.length ?? 0;
    const ids = [...(own?.id ?? []), ...(other?.id ?? [])];
    const names = [...(own?.name ?? []), ...(other?.title ?? [])];
    const flags = [...(own?.flags ?? []), ...(other?.flags ?? []).map((bits) => bits & CARD_BITS)];
    const kinds = ids.map((_, row): 'calculation' | 'card' => (row < first ? 'calculation' : 'card'));
    const nodeAt = (row: number) => ({
      kind: kinds[row] ?? 'card',
      id: ids[row] ?? '',
      name: names[row] ?? '',
    });
    const total = (calculations?.total ?? 0) + (cards?.total ?? 0);
    return {
      one: 'thing',
      which: 'most notable',
      sort: '-flags',
      ids,
      total,
      isWhole: ids.length === total,
      empty: 'The last snapshots have no calculation and no card.',
      columns: [
        { name: 'name', label: 'Name', ...things(nodeAt) },
        { name: 'kind', label: 'Kind', ...facets(kinds) },
        { name: 'id', label: 'Id', ...texts(ids) },
        {
          name: 'owner',
          label: 'Owner',
          ...owners([...(own?.owner ?? []), ...(other?.owner ?? [])], report),
        },
        { name: 'modified', label: 'Last changed', ...days(own?.modified ?? []) },
        { name: 'since', label: 'Broken since', ...since(own?.id ?? [], report) },
        { name: 'flags', label: 'Notes', ...badges(flags, ownedBits) },
      ],
      flags: flagsOf(flags, ownedBits),
    };
  },

  /**
   * The links that are not VALID: the thing that has the link, the thing that the link refers to, and how many things
   * depend on the thing that has the link.
   */
  broken(report: Report): List | undefined {
    const { facts, edges, edgeAt } = report;
    const { calculations, graph } = facts;
    if (calculations === undefined) return undefined;
    const { id, owner } = calculations.list.columns;
    const ends = graph.invalid.map(([edge]) => edgeAt(edge));
    // If a card uses a calculation, the link is in the record of the calculation.
    const ids = ends.map(({ user, used }) => (user?.kind === 'calculation' ? user.id : used?.id));
    const ownerOf = new Map(id.map((each, row) => [each, owner[row] ?? '']));
    // Computed once for each node, since several links may have the same one.
    const reached = new Map(graph.invalid.map(([edge]) => [graph.user[edge] ?? 0, 0]));
    for (const node of reached.keys()) reached.set(node, reach(edges.users, [node]).nodes.length);
    const reaches = graph.invalid.map(([edge]) => reached.get(graph.user[edge] ?? 0) ?? 0);
    const total = calculations.brokenLinks;
    return {
      one: 'broken link',
      sort: '-reaches',
      total,
      isWhole: ends.length === total,
      ids: ends.map(({ user, used }) => `${user?.name} ${user?.id} ${used?.name} ${used?.id}`),
      empty: 'Every link of every calculation is valid.',
      columns: [
        { name: 'user', label: 'From', ...things((row) => ends[row]?.user) },
        { name: 'relation', label: 'How', ...facets(ends.map(({ relation }) => relation)) },
        { name: 'used', label: 'To', ...things((row) => ends[row]?.used, { withKind: true }) },
        { name: 'valid', label: 'Validity', ...facets(graph.invalid.map(([, valid]) => valid)) },
        {
          name: 'owner',
          label: 'Owner',
          ...owners(
            ids.map((each) => ownerOf.get(each ?? '') ?? ''),
            report,
          ),
        },
        { name: 'since', label: 'Broken since', ...since(ids, report) },
        { name: 'reaches', label: 'Depend on it', ...numbers(reaches) },
      ],
    };
  },
} as const satisfies Partial<Record<View, (report: Report) => List | undefined>>;

const CARD_BITS = missing_target | affected;

/**
 * The list of a view, and the command that takes a snapshot of its records; undefined for a view that is not a list.
 */
export function listOf(view: View, report: Report) {
  if (!Object.hasOwn(lists, view)) return undefined;
  const source = view === 'cards' || view === 'files' || view === 'data-files' ? view : 'calculations';
  return { command: `platform-sync snapshot ${source}`, list: lists[view as keyof typeof lists](report) };
}

/*
 * The columns by the kind of their values. Each has one value for each row.
 */

type Shown = Omit<Column, 'name' | 'label'>;

const printed = (of: readonly (number | null)[], print: (value: number) => string): Shown => ({
  text: (row) => (of[row] == null ? '–' : print(of[row])),
  number: (row) => of[row] ?? null,
  isNumber: true,
});

/** A column of the days since which calculations have been broken, by their ids. */
const since = (ids: readonly (string | undefined)[], { since: known }: Report): Shown =>
  days(ids.map((id) => known.get(id ?? '') ?? null));

/** A column of links to things. `withKind`: whether each thing's kind stands before it. */
export const things = (
  at: (row: number) => ComponentProps<typeof NodeLink> | undefined,
  { withKind = false } = {},
): Shown => ({
  text: (row) => at(row)?.name || (at(row)?.id ?? ''),
  cell: (row) => {
    const node = at(row);
    return (
      node && (
        <>
          {withKind && `${node.kind} `}
          <NodeLink {...node} />
        </>
      )
    );
  },
});

/** A column of owners by their ids, one or several in a row. Each links to what the owner has. */
function owners(of: readonly (string | readonly string[])[], { ownerOf }: Report): Shown {
  const idsAt = (row: number) => [of[row] ?? []].flat();
  return {
    text: (row) => idsAt(row).map(ownerOf).join(', '),
    cell: (row) =>
      idsAt(row).map((id, place) => (
        <>
          {place > 0 && ', '}
          {id === '' ? '–' : linkedTo(hashOf('owned', { owner: id }), <Text of={ownerOf(id)} max={60} />)}
        </>
      )),
    values: idsAt,
    labelOf: ownerOf,
  };
}

type Bits = Readonly<Partial<Record<keyof typeof flagWords, number>>>;

const namesIn = (flags: number, bits: Bits) =>
  (Object.keys(bits) as (keyof Bits)[]).filter((name) => (flags & (bits[name] ?? 0)) !== 0);
