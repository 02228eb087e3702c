import { csvCell } from '../../../text/cells/index.ts';
import type { Sortable } from './find.ts';

type Column = Sortable & { readonly label: string; readonly isNumber?: boolean };

/** Rows as CSV, with the columns' labels first, as `query --csv` writes cells. A number is its digits. */
export function csvOf(columns: readonly Column[], rows: readonly number[]): string {
  const cellOf = ({ text, number, isNumber }: Column, row: number) =>
    isNumber ? String(number?.(row) ?? '') : text(row);
  const lines = [
    columns.map(({ label }) => label),
    ...rows.map((row) => columns.map((column) => cellOf(column, row))),
  ];
  return lines.map((cells) => `${cells.map((cell) => csvCell(cell, ',')).join()}\r\n`).join('');
}

/** Saves a text as a file. By the mark at its start, spreadsheets recognise UTF-8. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
