import { useMemo } from 'preact/hooks';
import { Chips, SearchBox } from '../parts/parts.tsx';
import { type Params, show, type View } from '../state/hash.ts';
import { count, counted } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import { inShownOrder, matching } from './find.ts';
import type { List } from './lists.tsx';
import { csvOf, saveFile } from './save-csv.ts';
import { type Column, Table } from './table.tsx';

type Props = { readonly view: View; readonly list: List; readonly params: Params };

/** A list that is searched, selected from, sorted and paged. What is shown is in the address. */
export function ListTable({ view, list, params }: Props) {
  const texts = useMemo(() => {
    const [heading] = list.columns;
    return list.ids.map((id, row) => `${heading?.text(row)} ${id}`.toLowerCase());
  }, [list]);
  const { q = '', flag = '', page = '1', sort = list.sort } = params;
  const facets = list.columns.filter(
    ({ name, values }) => values !== undefined && params[name] !== undefined,
  );
  const facetKey = facets.map(({ name }) => `${name}=${params[name]}`).join('&');
  const rows = useMemo(() => {
    const flags = list.flags?.filter(({ name }) => flag.split(',').includes(name)) ?? [];
    const passes = (row: number) =>
      flags.every(({ has }) => has(row)) &&
      facets.every(({ name, values }) => values?.(row).includes(params[name] ?? ''));
    return matching(texts, q, passes);
  }, [list, texts, q, flag, facetKey]);
  const set = (changes: Params, replace = false) =>
    show(view, { ...params, page: '', ...changes }, { replace });
  return (
    <>
      <ListTools list={list} params={params} facets={facets} set={set} />
      <p class="found" role="status">
        {foundWords(list, rows.length)}
      </p>
      {rows.length > 0 && (
        <button
          type="button"
          class="more"
          onClick={() => saveFile(`${view}.csv`, csvOf(list.columns, inShownOrder(list.columns, rows, sort)))}
        >
          Save as CSV
        </button>
      )}
      <Table
        label={`${list.one}s`}
        {...{ columns: list.columns, rows, sort }}
        onSort={(next) => set({ sort: next })}
        page={Number.parseInt(page, 10) || 1}
        onPage={(next) => set({ page: String(next) })}
      />
    </>
  );
}

function foundWords({ one, ids: { length }, total, isWhole, which = 'first' }: List, found: number): string {
  const of = isWhole ? '' : ` of the ${which} ${count(length)} of ${count(total)}`;
  if (found === length)
    return isWhole ? counted(found, one) : `The ${which} ${count(length)} of ${counted(total, one)}`;
  return found === 0
    ? `No ${one}${of} matches`
    : `${counted(found, one)}${of}${isWhole ? ` of ${count(total)}` : ''}`;
}

type ToolsProps = {
  readonly list: List;
  readonly params: Params;
  readonly facets: readonly Column[];
  readonly set: (changes: Params, replace?: boolean) => void;
};

function ListTools({ list: { one, flags = [] }, params, facets, set }: ToolsProps) {
  const selected = (params['flag'] ?? '').split(',').filter(Boolean);
  const toggle = (name: string) =>
    selected.includes(name) ? selected.filter((each) => each !== name) : [...selected, name];
  return (
    <search class="tools">
      <SearchBox label={`Search ${one}s`} value={params['q'] ?? ''} onValue={(q) => set({ q }, true)} />
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
