import { useId, useMemo, useState } from 'preact/hooks';
import { Chips, SearchBox } from '../parts/parts.tsx';
import { type Params, show, type View } from '../state/hash.ts';
import { count, counted } from '../text/numbers.ts';
import { readable, shortened } from '../text/shown.ts';
import type { List } from './lists.tsx';
import { csvOf, inShownOrder, matching, selectedBy } from './rows.ts';
import { type Column, Table } from './table.tsx';

/** A list with search, filters, sorting and pages. Its state is stored in the address. */
export function ListTable({
  view,
  list,
  params,
}: {
  readonly view: View;
  readonly list: List;
  readonly params: Params;
}) {
  const texts = useMemo(() => {
    const [heading] = list.columns;
    return list.ids.map((id, row) => `${heading?.text(row)} ${id}`.toLowerCase());
  }, [list]);
  const { page = '1', sort = list.sort, ...selecting } = params;
  const rows = useMemo(() => {
    const isSelected = selectedBy(list.columns, selecting);
    const flags = list.flags?.filter(({ name }) => selecting['flag']?.split(',').includes(name)) ?? [];
    const passes = (row: number) => flags.every(({ has }) => has(row)) && isSelected(row);
    return matching(texts, selecting['q'] ?? '', passes);
  }, [list, texts, JSON.stringify(selecting)]);
  const set = (changes: Params, replace = false) =>
    show(view, { ...params, page: '', ...changes }, { replace });
  return (
    <>
      <ListTools list={list} params={params} set={set} />
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
        columns={list.columns}
        rows={rows}
        sort={sort}
        onSort={(next) => set({ sort: next })}
        page={Number.parseInt(page, 10) || 1}
        onPage={(next) => set({ page: String(next) })}
      />
    </>
  );
}

/** Saves a string as a file. Spreadsheets recognize UTF-8 by the byte order mark at its start. */
function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
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
  readonly set: (changes: Params, replace?: boolean) => void;
};

function ListTools({ list: { one, ids, columns, flags = [] }, params, set }: ToolsProps) {
  const selected = (params['flag'] ?? '').split(',').filter(Boolean);
  const toggle = (name: string) =>
    selected.includes(name) ? selected.filter((each) => each !== name) : [...selected, name];
  const [isOpen, setOpen] = useState(false);
  const chosen = columns.filter(({ name }) =>
    [name, `${name}.from`, `${name}.to`].some((each) => params[each]),
  ).length;
  const activeFilters = selected.length + chosen;
  const hasFilters = flags.length > 0 || columns.some(({ values, isDay }) => values !== undefined || isDay);
  return (
    <search class={isOpen ? 'tools' : 'tools tools-folded'}>
      <SearchBox label={`Search ${one}s`} value={params['q'] ?? ''} onValue={(q) => set({ q }, true)} />
      {hasFilters && (
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters{activeFilters > 0 && ` (${count(activeFilters)})`}
        </button>
      )}
      {flags.length > 0 && (
        <Chips
          legend="Show only"
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
      {columns.map((column) => (
        <Filter key={column.name} column={column} params={params} set={set} length={ids.length} />
      ))}
    </search>
  );
}

/** A filter by the values of a column, or by its first and last day; nothing for other columns. */
function Filter({
  column: { name, label, values, labelOf = (value) => value, isDay },
  length,
  params,
  set,
}: Pick<ToolsProps, 'params' | 'set'> & { readonly column: Column; readonly length: number }) {
  const id = useId();
  const choices = useMemo(() => choicesOf(length, values), [values]);
  if (values !== undefined) {
    const chosen = params[name] ?? '';
    const offered = chosen === '' || choices.includes(chosen) ? choices : [chosen, ...choices];
    return (
      <div class="filter">
        <label for={id}>{label}</label>
        <select id={id} value={chosen} onChange={(event) => set({ [name]: event.currentTarget.value })}>
          <option value="">All</option>
          {offered.map((value) => (
            <option key={value} value={value}>
              {shortened(readable(labelOf(value)), 60)}
            </option>
          ))}
        </select>
      </div>
    );
  }
  if (!isDay) return null;
  return (['from', 'to'] as const).map((end) => (
    <div key={end} class="filter">
      <label for={id + end}>{`${label} ${end}`}</label>
      <input
        id={id + end}
        type="date"
        value={params[`${name}.${end}`] ?? ''}
        onChange={(event) => set({ [`${name}.${end}`]: event.currentTarget.value })}
      />
    </div>
  ));
}

const MAX_CHOICES = 500;

/** The values of a column to choose from, most frequent first. */
function choicesOf(length: number, values: Column['values']): readonly string[] {
  const counts = new Map<string, number>();
  for (let row = 0; row < length; row += 1)
    for (const value of values?.(row) ?? [])
      if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_CHOICES)
    .map(([value]) => value);
}
