import { useMemo } from 'preact/hooks';
import { Chips, SearchBox } from '../parts/parts.tsx';
import type { View } from '../state/hash.ts';
import { show } from '../state/use-shown.ts';
import { count, counted } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import { matching, parseSort, printSort, searchable } from './find.ts';
import type { Column, List } from './list.ts';
import { Table } from './table.tsx';

type Props = {
  readonly view: View;
  readonly list: List;
  readonly params: Readonly<Record<string, string>>;
};

/** A list that is searched, selected from, sorted and paged. What is shown is in the address. */
export function ListTable({ view, list, params }: Props) {
  const texts = useMemo(() => searchable(list.length, list.textOf ?? namesIn(list)), [list]);
  const { q = '', flag = '', page = '1', sort = list.sort } = params;
  const facets = list.columns.filter(({ name, isFacet }) => isFacet && params[name] !== undefined);
  const facetKey = facets.map(({ name }) => `${name}=${params[name]}`).join('&');
  const rows = useMemo(() => {
    const flags = list.flags?.filter(({ name }) => flag.split(',').includes(name)) ?? [];
    const passes = (row: number) =>
      flags.every(({ has }) => has(row)) &&
      facets.every((facet) => hasValue(facet, row, params[facet.name] ?? ''));
    return matching(texts, q, passes);
  }, [list, texts, q, flag, facetKey]);
  const set = (changes: Readonly<Record<string, string>>, replace = false) =>
    show({ view, params: { ...params, page: '', ...changes } }, { replace });
  return (
    <>
      <ListTools list={list} params={params} facets={facets} set={set} />
      <p class="found" role="status">
        {foundWords(list, rows.length)}
      </p>
      <Table
        label={list.noun[1]}
        columns={list.columns}
        rows={rows}
        sort={parseSort(sort)}
        onSort={(next) => set({ sort: printSort(next) })}
        page={Number.parseInt(page, 10) || 1}
        onPage={(next) => set({ page: String(next) })}
      />
    </>
  );
}

function namesIn({ columns }: List): (row: number) => string {
  const searched = columns.filter(({ name, isHeading }) => isHeading || name === 'id');
  return (row) => searched.map(({ text }) => text(row)).join(' ');
}

const hasValue = ({ text, values }: Column, row: number, value: string): boolean =>
  values === undefined ? text(row) === value : values(row).includes(value);

function foundWords(
  { noun: [one, many], length, total, isWhole, which = 'first' }: List,
  found: number,
): string {
  const of = isWhole ? '' : ` of the ${which} ${count(length)} of ${count(total)}`;
  if (found === length)
    return isWhole
      ? counted(found, one, many)
      : `The ${which} ${count(length)} of ${counted(total, one, many)}`;
  return found === 0
    ? `No ${one}${of} matches`
    : `${counted(found, one, many)}${of}${isWhole ? ` of ${count(total)}` : ''}`;
}

type ToolsProps = {
  readonly list: List;
  readonly params: Readonly<Record<string, string>>;
  readonly facets: readonly Column[];
  readonly set: (changes: Readonly<Record<string, string>>, replace?: boolean) => void;
};

function ListTools({ list: { noun, flags = [] }, params, facets, set }: ToolsProps) {
  const selected = (params['flag'] ?? '').split(',').filter(Boolean);
  const toggle = (name: string) =>
    selected.includes(name) ? selected.filter((each) => each !== name) : [...selected, name];
  return (
    <search class="tools">
      <SearchBox label={`Search ${noun[1]}`} value={params['q'] ?? ''} onValue={(q) => set({ q }, true)} />
      {flags.length > 0 && (
        <Chips
          legend="Only these"
          chips={flags}
          isPressed={(name) => selected.includes(name)}
          onPress={(name) => set({ flag: toggle(name).join(',') })}
        />
      )}
      {flags.map(
        ({ name, label, meaning }) =>
          meaning !== undefined &&
          selected.includes(name) && (
            <p key={name} class="quiet-line meaning">
              <strong>{label}</strong>: {meaning}
            </p>
          ),
      )}
      {facets.map(({ name, label, labelOf }) => (
        <button key={name} type="button" class="facet" onClick={() => set({ [name]: '' })}>
          {label}: <Text of={labelOf?.(params[name] ?? '') ?? params[name] ?? ''} most={60} />{' '}
          <span aria-hidden="true">×</span>
          <span class="quiet">, remove</span>
        </button>
      ))}
    </search>
  );
}
