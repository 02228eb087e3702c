import { skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import type { Cursor } from './cursor.ts';

/** A column, or a part of one: the leaves that it consists of get something at every place. */
export type FittedNode = {
  /**
   * Writes the value at the cursor, in a list or row of level `repetition`, and moves the cursor behind it. What does not
   * fit is null, and makes `fits` false. Throws `SyntaxError` at bytes that are not JSON.
   */
  read(cursor: Cursor, repetition: number): void;
  /** Writes that there is no value: of its path, there is as much as `definition` says. */
  none(repetition: number, definition: number): void;
};

const NULL = 0x6e;

/** Writes null for a value that does not fit, and skips it, whatever its depth; null fits everywhere. */
export function skipOther(
  cursor: Cursor,
  node: Pick<FittedNode, 'none'>,
  repetition: number,
  definition: number,
): void {
  const { json, at } = cursor;
  if (json.bytes[at] !== NULL) cursor.fits = false;
  cursor.at = skipDeepValue(json, at, 0);
  node.none(repetition, definition);
}
