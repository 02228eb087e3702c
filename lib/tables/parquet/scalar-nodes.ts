import { skipDeepValue, skipValue } from '../../snapshot/page/json-bytes.ts';
import type { BooleanLeaf } from './boolean-leaf.ts';
import { exactInteger } from './exact-integer.ts';
import { type FittedNode, skipOther } from './fitted-node.ts';
import type { IntegerLeaf } from './integer-leaf.ts';
import { addLevels } from './levels.ts';

const MINUS = 0x2d;
const ZERO = 0x30;
/** So many digits are a safe integer. */
const SAFE_DIGITS = 15;

/** True for the first byte of a number. */
export const startsNumber = (byte: number): boolean => byte === MINUS || isDigit(byte);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

export function integerNode(leaf: IntegerLeaf): FittedNode {
  const nothing = leaf.definition - 1;
  const node: FittedNode = {
    read(cursor, repetition) {
      const { json, at } = cursor;
      const { bytes } = json;
      const first = bytes[at] === MINUS ? at + 1 : at;
      let end = first;
      let value = 0;
      for (let byte = bytes[end] ?? 0; isDigit(byte); byte = bytes[end] ?? 0) {
        value = value * 10 + byte - ZERO;
        end += 1;
      }
      if (end === first) {
        skipOther(cursor, node, repetition, nothing);
        return;
      }
      cursor.at = skipValue(json, at, 0);
      const isPlain = cursor.at === end && end - first <= SAFE_DIGITS;
      const exact = isPlain
        ? first === at
          ? value
          : -value
        : exactInteger(bytes.toString('latin1', at, cursor.at));
      if (exact !== undefined) leaf.add(repetition, exact);
      else {
        cursor.fits = false;
        node.none(repetition, nothing);
      }
    },
    none: (repetition, definition) => addLevels(leaf.levels, repetition, definition),
  };
  return node;
}

export function booleanNode(leaf: BooleanLeaf): FittedNode {
  const node: FittedNode = {
    read(cursor, repetition) {
      const { json, at } = cursor;
      const first = json.bytes[at];
      if (first === 0x74 || first === 0x66) {
        cursor.at = skipValue(json, at, 0);
        leaf.add(repetition, first === 0x74);
      } else skipOther(cursor, node, repetition, leaf.definition - 1);
    },
    none: (repetition, definition) => addLevels(leaf.levels, repetition, definition),
  };
  return node;
}

/** A value that is known, by its JSON: it has no column, and any other value does not fit. */
export function knownNode(json: string): FittedNode {
  const known = Buffer.from(json);
  return {
    read(cursor) {
      const { at } = cursor;
      cursor.at = skipDeepValue(cursor.json, at, 0);
      if (!known.equals(cursor.json.bytes.subarray(at, cursor.at))) cursor.fits = false;
    },
    none: () => undefined,
  };
}
