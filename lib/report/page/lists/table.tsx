import { useMemo } from 'preact/hooks';
import { Scrolled } from '../parts/parts.tsx';
import { count } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import { type Sort, sorted } from './find.ts';
import type { Column } from './list.ts';

const PAGE = 50;

type Props = {
  /** What it is a table of. */
  readonly label: string;
  readonly caption?: string;
  readonly columns: readonly Column[];
  readonly rows: readonly number[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  /** 1 is the first. */
  readonly page: number;
  readonly onPage: (page: number) => void;
};

/** Rows in the order of a column, a page of them at a time. */
export function Table({ label, caption, columns, rows, sort, onSort, page, onPage }: Props) {
  const ordered = useMemo(() => {
    const column = columns.find(({ name }) => name === sort.name);
    return column === undefined ? rows : sorted(rows, column, sort.descending);
  }, [rows, columns, sort.name, sort.descending]);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const number = Math.min(pages, Math.max(1, page));
  return (
    <>
      {rows.length > 0 && (
        <Scrolled label={`Table of ${label}`}>
          <table class="list">
            {caption !== undefined && <caption class="quiet">{caption}</caption>}
            <Heads columns={columns} sort={sort} onSort={onSort} />
            <tbody>
              {ordered.slice((number - 1) * PAGE, number * PAGE).map((row) => (
                <Row key={row} row={row} columns={columns} />
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
      <Pages number={number} pages={pages} onPage={onPage} />
    </>
  );
}

/** The heads of a table, each a button that sorts by it, and in the other direction when it does already. */
function Heads({ columns, sort, onSort }: Pick<Props, 'columns' | 'sort' | 'onSort'>) {
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
function Row({ row, columns }: { readonly row: number; readonly columns: readonly Column[] }) {
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

type PagesProps = {
  readonly number: number;
  readonly pages: number;
  readonly onPage: (number: number) => void;
};

/** Leads from page to page of a list; nothing if there is one alone. */
function Pages({ number, pages, onPage }: PagesProps) {
  if (pages === 1) return null;
  const button = (label: string, to: number) => {
    const leads = to >= 1 && to <= pages && to !== number;
    // Not `disabled`, which would take the focus away from whoever came to the end by it.
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
