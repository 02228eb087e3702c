import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Scrolled } from '../parts/parts.tsx';
import { usePrinting } from '../state/printing.ts';
import { count } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import { inShownOrder, type Sortable } from './rows.ts';

/** A column of a list: what its cells show, and how to sort and filter by it. */
export type Column = Sortable & {
  readonly label: string;
  /** What a cell shows. Default: its text. */
  readonly cell?: (row: number) => ComponentChildren;
  readonly isNumber?: boolean;
  /** How the filter shows a value. Default: the value itself. */
  readonly labelOf?: (value: string) => string;
};

const ROWS_PER_PAGE = 50;

type Props = {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly caption?: string;
  /** The columns; the first one names the row. */
  readonly columns: readonly Column[];
  readonly rows: readonly number[];
  /** The column to sort by, as in an address: its name, after `-` for descending order. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** The number of the page; 1 is the first. */
  readonly page: number;
  readonly onPage: (page: number) => void;
};

/** Rows sorted by a column, one page at a time. Printing shows all rows. */
export function Table({ label, caption, columns, rows, sort, onSort, page, onPage }: Props) {
  const ordered = useMemo(() => inShownOrder(columns, rows, sort), [rows, columns, sort]);
  const size = usePrinting() ? Math.max(1, rows.length) : ROWS_PER_PAGE;
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const number = Math.min(pages, Math.max(1, page));
  return (
    <>
      {rows.length > 0 && (
        <Scrolled label={`Table of ${label}`} kind="rows">
          <table class="list">
            {caption !== undefined && <caption class="quiet">{caption}</caption>}
            <thead>
              <tr>
                {columns.map((column) => (
                  <Head key={column.name} column={column} sort={sort} onSort={onSort} />
                ))}
              </tr>
            </thead>
            <tbody>
              {ordered.slice((number - 1) * size, number * size).map((row) => (
                <tr key={row}>
                  {columns.map((column, at) => (
                    <Cell key={column.name} column={column} row={row} isHeading={at === 0} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
      {pages > 1 && <Pages number={number} pages={pages} onPage={onPage} />}
    </>
  );
}

/**
 * The head of a column: a button that sorts by the column, or reverses the order if the rows are already sorted by it.
 */
function Head({
  column: { name, label, isNumber },
  sort,
  onSort,
}: Pick<Props, 'sort' | 'onSort'> & { readonly column: Column }) {
  const up = sort === name;
  const down = sort === `-${name}`;
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : undefined}
      aria-sort={up ? 'ascending' : down ? 'descending' : undefined}
    >
      <button type="button" onClick={() => onSort(up || (isNumber && !down) ? `-${name}` : name)}>
        {label}
        <span aria-hidden="true" class="arrow">
          {up ? '↑' : down ? '↓' : '↕'}
        </span>
      </button>
    </th>
  );
}

function Cell({
  column: { label, text, cell, isNumber, isDay },
  row,
  isHeading,
}: {
  readonly column: Column;
  readonly row: number;
  readonly isHeading: boolean;
}) {
  const content = cell === undefined ? <Text of={text(row)} max={120} /> : cell(row);
  return isHeading ? (
    <th scope="row">{content}</th>
  ) : (
    <td class={isNumber ? 'number' : isDay ? 'day' : undefined} data-label={label}>
      {content}
    </td>
  );
}

/** Buttons to move between the pages of a list. */
function Pages({
  number,
  pages,
  onPage,
}: Pick<Props, 'onPage'> & { readonly number: number; readonly pages: number }) {
  const button = (label: string, to: number) => {
    const leads = to >= 1 && to <= pages && to !== number;
    // A `disabled` button would lose the keyboard focus at the last page, so `aria-disabled` is used.
    return (
      <button type="button" aria-disabled={!leads} onClick={() => leads && onPage(to)}>
        {label}
      </button>
    );
  };
  return (
    <nav class="pages" aria-label="Pages of the list">
      {button('First', 1)}
      {button('Previous', number - 1)}
      <span>
        Page {count(number)} of {count(pages)}
      </span>
      {button('Next', number + 1)}
      {button('Last', pages)}
    </nav>
  );
}
