import type { Sortable } from './find.ts';

type Column = Sortable & { readonly label: string; readonly isNumber?: boolean };

/**
 * Rows as CSV (RFC 4180), with the columns' labels first. A number is its digits. A text that a spreadsheet would take for
 * a formula begins with an apostrophe.
 */
export function csvOf(columns: readonly Column[], rows: readonly number[]): string {
  const cellOf = ({ text, number, isNumber }: Column, row: number) =>
    isNumber ? String(number?.(row) ?? '') : text(row).replace(/^(?=[=+\-@\t\r])/, "'");
  const lines = [
    columns.map(({ label }) => label),
    ...rows.map((row) => columns.map((column) => cellOf(column, row))),
  ];
  return lines.map((cells) => `${cells.map(quoted).join()}\r\n`).join('');
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Has the browser save a text as a file. The mark at its start tells spreadsheets that it is UTF-8. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv;charset=utf-8' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
