/**
 * What is wrong with a formula, or may be, for the person who wrote it.
 *
 * - `message`: one sentence that says what was expected and what was found.
 * - `offset`: where, in UTF-16 code units from 0; the formula's length if it ends too early.
 * - `line`, `column`: the same position, both from 1; a column is a UTF-16 code unit.
 */
export type FormulaFault = {
  readonly message: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
};

/** What is wrong with a formula at an offset of its text: a fault before its line and column are known. */
export type Objection = { readonly offset: number; readonly message: string };

/** A fault at an offset of the formula `text`. */
export function faultAt(text: string, offset: number, message: string): FormulaFault {
  return { message, offset, ...positionOf(text, offset) };
}

/** Line and column, both from 1. A line ends with a line feed, a carriage return, or both. */
export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** A piece of the formula as a message quotes it. */
export function shown(source: string): string {
  return `"${shortened(source)}"`;
}

/** The first 40 characters of a piece of the formula, followed by … if it is longer. */
export function shortened(source: string): string {
  const characters = [...source.slice(0, 82)]; // a character is one or two code units
  return characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : source;
}
