/* Cells of CSV. These files import nothing, since they are also part of the report's page. */

/** A cell of a CSV (RFC 4180), quoted if necessary. */
export const csvCell = (text: string, separator: string): string =>
  text.includes(separator) || /["\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/**
 * A cell that a spreadsheet shows as text: one that it would run as a formula gets an apostrophe in front, except
 * numbers.
 */
export const safeCell = (text: string): string =>
  /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/.test(text) && !/^[+-]?[\d.,]*\d(e[+-]?\d+)?%?$/i.test(text)
    ? `'${text}`
    : text;
