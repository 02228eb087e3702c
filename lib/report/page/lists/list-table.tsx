import { useMemo } from 'preact/hooks';
import { Scrolled } from '../parts/scrolled.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import type { View } from '../state/hash.ts';
import { show } from '../state/use-shown.ts';
import { count, counted } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import { matching, parseSort, printSort, type Sort, searchable, sorted } from './find.ts';
import type { Column, List } from './list.ts';
import { Pages } from './pages.tsx';

const PAGE = 50;

type Props = {
  readonly view: View;
  readonly list: List;
  readonly params: Readonly<Record<string, string>>;
};

/** A list that is searched, selected from, sorted and paged. What is shown is in the address. */
export function ListTable({ view, list, params }: Props) {
  const texts = useMemo(() => searchable(list.length, list.textOf), [list]);
  const { q = '', flag = '', page = '1' } = params;
  const sort = parseSort(params['sort'] ?? list.sort);
  const facets = list.columns.filter(({ name, isFacet }) => isFacet && params[name] !== undefined);
  const facetKey = facets.map(({ name }) => `${name}=${params[name]}`).join('&');
  const rows = useMemo(() => {
    const flags = list.flags.filter(({ name }) => flag.split(',').includes(name));
    const passes = (row: number) =>
      flags.every(({ has }) => has(row)) &&
      facets.every((facet) => hasValue(facet, row, params[facet.name] ?? ''));
    const found = matching(texts, q, passes);
    const column = list.columns.find(({ name }) => name === sort.name);
    return column === undefined ? found : sorted(found, column, sort.descending);
  }, [list, texts, q, flag, facetKey, sort.name, sort.descending]);
  const set = (changes: Readonly<Record<string, string>>, replace = false) =>
    show({ view, params: { ...params, page: '', ...changes } }, { replace });
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const number = Math.min(pages, Math.max(1, Number.parseInt(page, 10) || 1));
  return (
    <>
      <ListTools list={list} params={params} facets={facets} set={set} />
      <p class="found" role="status">
        {foundWords(list, rows.length)}
      </p>
      {rows.length > 0 && (
        <Scrolled label={`Table of ${list.noun[1]}`}>
          <table class="list">
            <Heads columns={list.columns} sort={sort} onSort={(next) => set({ sort: printSort(next) })} />
            <tbody>
              {rows.slice((number - 1) * PAGE, number * PAGE).map((row) => (
                <Row key={row} row={row} columns={list.columns} />
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
      <Pages number={number} pages={pages} onPage={(next) => set({ page: String(next) })} />
    </>
  );
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

function ListTools({ list, params, facets, set }: ToolsProps) {
  const selected = (params['flag'] ?? '').split(',').filter(Boolean);
  const toggle = (name: string) =>
    selected.includes(name) ? selected.filter((each) => each !== name) : [...selected, name];
  return (
    <search class="tools">
      <SearchBox
        label={`Search ${list.noun[1]}`}
        value={params['q'] ?? ''}
        onValue={(q) => set({ q }, true)}
      />
      {list.flags.length > 0 && (
        <fieldset class="chips">
          <legend>Only these</legend>
          {list.flags.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              aria-pressed={selected.includes(name)}
              onClick={() => set({ flag: toggle(name).join(',') })}
            >
              {label}
            </button>
          ))}
        </fieldset>
      )}
      {list.flags.map(
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

type HeadsProps = {
  readonly columns: readonly Column[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
};

/** The heads of a table, each a button that sorts by it, and in the other direction when it does already. */
export function Heads({ columns, sort, onSort }: HeadsProps) {
  return (
    <thead>
      <tr>
        {columns.map(({ name, label, isNumber = false }) => {
          const isSorted = name === sort.name;
          const direction = sort.descending ? 'descending' : 'ascending';
          return (
            <th
              key={name}
              scope="col"
              class={isNumber ? 'number' : undefined}
              aria-sort={isSorted ? direction : undefined}
            >
              <button
                type="button"
                onClick={() => onSort({ name, descending: isSorted ? !sort.descending : isNumber })}
              >
                {label}
                <span aria-hidden="true" class="arrow">
                  {isSorted ? (sort.descending ? '↓' : '↑') : '↕'}
                </span>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** A row of a table, named by one of its cells. */
export function Row({ row, columns }: { readonly row: number; readonly columns: readonly Column[] }) {
  return (
    <tr>
      {columns.map(({ name, text, cell, isNumber, isHeading }) => {
        const content = cell === undefined ? <Text of={text(row)} most={120} /> : cell(row);
        return isHeading ? (
          <th key={name} scope="row">
            {content}
          </th>
        ) : (
          <td key={name} class={isNumber ? 'number' : undefined}>
            {content}
          </td>
        );
      })}
    </tr>
  );
}
