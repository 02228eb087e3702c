import type { ComponentChildren } from 'preact';
import type { flagWords } from '../../flag-words.ts';
import { Badges, NodeLink } from '../parts/parts.tsx';
import { hashOf } from '../state/hash.ts';
import type { Node, Report } from '../state/report.ts';
import { bytes, count, day } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import type { Column } from './table.tsx';

/** What a column needs besides its own values. */
export type Rows = Pick<Report, 'ownerOf'> & {
  readonly idAt: (row: number) => string;
  readonly kindAt: (row: number) => Node['kind'];
  /** The names of the flags of bits. */
  readonly flagsIn: (bits: number) => readonly (keyof typeof flagWords)[];
  /** Where a value of a column leads to. */
  readonly hrefOf?: ((name: string, row: number) => string | undefined) | undefined;
};

type Shown = Omit<Column, 'name' | 'label'>;

const textsOf = (of: readonly unknown[]): Shown => ({ text: (row) => String(of[row] ?? '') });

const numbersOf = (of: readonly (number | null)[], print: (value: number) => string): Shown => ({
  text: (row) => (of[row] == null ? '–' : print(of[row])),
  number: (row) => of[row] ?? null,
  isNumber: true,
});

type Named = Pick<Node, 'kind' | 'id' | 'name'>;

const nodesOf = (nodeAt: (row: number) => Named | undefined): Shown => ({
  text: (row) => nodeAt(row)?.name ?? '',
  cell: (row) => linkTo(nodeAt(row)),
});

const linkTo = (node: Named | undefined) => node && <NodeLink {...node} />;

/** The kinds of columns, each made of its values, one a row. */
export const columnKinds = {
  text: textsOf,
  /** Rows can be selected by it. */
  facet: (of: readonly unknown[]): Shown => ({ ...textsOf(of), isFacet: true }),
  number: (of: readonly number[]): Shown => numbersOf(of, count),
  /** A number that may lead to what it counts. */
  count: (of: readonly number[], { hrefOf }: Rows, name: string): Shown => ({
    ...numbersOf(of, count),
    cell: (row) => linkedTo(hrefOf?.(name, row), count(of[row] ?? 0)),
  }),
  bytes: (of: readonly (number | null)[]): Shown => numbersOf(of, bytes),
  day: (of: readonly (number | null)[]): Shown => ({
    text: (row) => day(of[row]),
    number: (row) => of[row] ?? null,
  }),
  /** The names of what the rows are. */
  thing: (of: readonly string[], { idAt, kindAt }: Rows): Shown =>
    nodesOf((row) => ({ kind: kindAt(row), id: idAt(row), name: of[row] ?? '' })),
  /** Other things. */
  node: (of: readonly (Named | undefined)[]): Shown => ({
    ...nodesOf((row) => of[row]),
    text: (row) => of[row]?.name || (of[row]?.id ?? ''),
  }),
  /** Other things with their kinds. */
  kindAndNode: (of: readonly (Named | undefined)[]): Shown => ({
    ...columnKinds.node(of),
    cell: (row) => (
      <>
        {of[row]?.kind} {linkTo(of[row])}
      </>
    ),
  }),
  dataset: (of: readonly string[]): Shown => ({
    ...columnKinds.facet(of),
    cell: (row) => (of[row] ? linkTo({ kind: 'dataset', id: of[row], name: of[row] }) : '–'),
  }),
  /** Ids of owners, one or several a row: each leads to what else they own. */
  owner: (of: readonly (string | readonly string[])[], { ownerOf }: Rows): Shown => {
    const idsAt = (row: number) => [of[row] ?? []].flat();
    return {
      text: (row) => idsAt(row).map(ownerOf).join(', '),
      cell: (row) =>
        idsAt(row).map((id, place) => (
          <>
            {place > 0 && ', '}
            {linkedTo(id === '' ? undefined : hashOf('owned', { owner: id }), ownerName(id, ownerOf))}
          </>
        )),
      isFacet: true,
      values: idsAt,
      labelOf: ownerOf,
    };
  },
  flags: (of: readonly number[], { flagsIn }: Rows): Shown => ({
    text: (row) => flagsIn(of[row] ?? 0).join(' '),
    number: (row) => of[row] ?? 0,
    cell: (row) => <Badges names={flagsIn(of[row] ?? 0)} />,
  }),
};

const ownerName = (id: string, ownerOf: Report['ownerOf']) =>
  id === '' ? '–' : <Text of={ownerOf(id)} most={60} />;

const linkedTo = (href: string | undefined, content: ComponentChildren) =>
  href === undefined ? content : <a href={href}>{content}</a>;
