import type { ComponentChildren, ComponentProps } from 'preact';
import type { flagWords } from '../../facts.ts';
import { Badges, NodeLink } from '../parts/parts.tsx';
import { hashOf } from '../state/hash.ts';
import type { Report } from '../state/report.ts';
import { bytes, count, day } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import type { Column } from './table.tsx';

/* How columns show their values, one for each row. */

type Shown = Omit<Column, 'name' | 'label'>;

export const texts = (of: readonly unknown[]): Shown => ({ text: (row) => String(of[row] ?? '') });

/** Texts by which rows can be filtered. */
export const facets = (of: readonly unknown[]): Shown => {
  const text = (row: number) => String(of[row] ?? '');
  return { text, values: (row) => [text(row)] };
};

/** Numbers; `hrefOf` is the address of what a number counts. */
export const numbers = (of: readonly number[], hrefOf?: (row: number) => string | undefined): Shown => ({
  ...printed(of, count),
  ...(hrefOf && { cell: (row) => linkedTo(hrefOf(row), count(of[row] ?? 0)) }),
});

export const sizes = (of: readonly (number | null)[]): Shown => printed(of, bytes);

const printed = (of: readonly (number | null)[], print: (value: number) => string): Shown => ({
  text: (row) => (of[row] == null ? '–' : print(of[row])),
  number: (row) => of[row] ?? null,
  isNumber: true,
});

/** Epoch milliseconds. */
export const days = (of: readonly (number | null)[]): Shown => ({
  text: (row) => day(of[row]),
  number: (row) => of[row] ?? null,
  isDay: true,
});

/** When calculations became broken, by id. */
export function since(ids: readonly (string | undefined)[], { since: known, facts }: Report): Shown {
  const beforeMs = facts.calculations?.brokenSince?.beforeMs ?? 0;
  const at = (row: number) => known.get(ids[row] ?? '');
  return {
    text: (row) => (at(row) === null ? `before ${day(beforeMs)}` : day(at(row))),
    number: (row) => (at(row) === null ? beforeMs - 1 : (at(row) ?? null)),
    isDay: true,
  };
}

type Named = ComponentProps<typeof NodeLink>;

/** Links to things; `withKind` puts the kind before each. */
export const things = (at: (row: number) => Named | undefined, { withKind = false } = {}): Shown => ({
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

/** Links to things of one kind, by id and name. */
export const named = (kind: Named['kind'], ids: readonly string[], names: readonly string[] = []): Shown =>
  things((row) => ({ kind, id: ids[row] ?? '', name: names[row] ?? '' }));

export const datasets = (of: readonly string[]): Shown => ({
  ...facets(of),
  cell: (row) => (of[row] ? <NodeLink kind="dataset" id={of[row]} name={of[row]} /> : '–'),
});

/** Owners by id, one or several in a row: each links to what they own. */
export function owners(of: readonly (string | readonly string[])[], { ownerOf }: Report): Shown {
  const idsAt = (row: number) => [of[row] ?? []].flat();
  return {
    text: (row) => idsAt(row).map(ownerOf).join(', '),
    cell: (row) =>
      idsAt(row).map((id, place) => (
        <>
          {place > 0 && ', '}
          {id === '' ? '–' : linkedTo(hashOf('owned', { owner: id }), <Text of={ownerOf(id)} most={60} />)}
        </>
      )),
    values: idsAt,
    labelOf: ownerOf,
  };
}

/** Flags as badges. */
export const badges = (of: readonly number[], bits: Bits): Shown => ({
  text: (row) => namesIn(of[row] ?? 0, bits).join(' '),
  number: (row) => of[row] ?? 0,
  cell: (row) => <Badges names={namesIn(of[row] ?? 0, bits)} />,
});

export type Bits = Readonly<Partial<Record<keyof typeof flagWords, number>>>;

const namesIn = (flags: number, bits: Bits) =>
  (Object.keys(bits) as (keyof Bits)[]).filter((name) => (flags & (bits[name] ?? 0)) !== 0);

const linkedTo = (href: string | undefined, content: ComponentChildren) =>
  href === undefined ? content : <a href={href}>{content}</a>;
