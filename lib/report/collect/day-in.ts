import { timeIn } from './values.ts';

const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})\b/;
const SLASHED = /^(\d{4})\/(\d\d)\/(\d\d)\b/;

/**
 * The day that a cell of a table holds, `2026-11-22`; undefined if it holds none. Day and month of `11/12/2026` cannot be
 * told apart, and a number may be anything, but for one that is the milliseconds of these decades.
 */
export function dayIn(cell: string): string | undefined {
  const text = cell.trim();
  if (text.length < 8 || text.length > 64) return undefined;
  if (/^\d+$/.test(text)) return /^1[0-9]\d{11}$/.test(text) ? dayOf(Number(text)) : undefined;
  const [, day = '', month = '', year] = DOTTED.exec(text) ?? [];
  if (year !== undefined) return dayOf(timeIn(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`));
  const slashed = SLASHED.exec(text);
  return dayOf(timeIn(slashed === null ? text : `${slashed[1]}-${slashed[2]}-${slashed[3]}`));
}

const dayOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 10);
