import { QUOTE, skipDeepValue, skipText, skipValue } from '../../snapshot/page/json-bytes.ts';
import type { Cursor } from './cursor.ts';
import { type FittedNode, skipOther } from './fitted-node.ts';
import { addLevels } from './levels.ts';
import { startsNumber } from './scalar-nodes.ts';
import type { TextLeaf } from './text-leaf.ts';
import { hashOf, mixed } from './texts.ts';

const BACKSLASH = 0x5c;
const NULL = 0x6e;

/** Texts, and numbers as their digits. */
export function textNode(leaf: TextLeaf): FittedNode {
  const nothing = leaf.definition - 1;
  const node: FittedNode = {
    read(cursor, repetition) {
      const { json, at } = cursor;
      const first = json.bytes[at] ?? 0;
      if (first === QUOTE) {
        if (readPlain(cursor, leaf, repetition)) return;
        cursor.at = skipText(json, at);
        const text = decoded(json.bytes, at, cursor.at);
        if (text !== undefined) leaf.addText(repetition, text);
        else {
          cursor.fits = false;
          node.none(repetition, nothing);
        }
      } else if (startsNumber(first)) {
        cursor.at = skipValue(json, at, 0);
        leaf.add(repetition, json, at, cursor.at, hashOf(json, at, cursor.at));
      } else skipOther(cursor, node, repetition, nothing);
    },
    none: (repetition, definition) => addLevels(leaf.levels, repetition, definition),
  };
  return node;
}

/** Values of any kind, as their JSON. */
export function jsonNode(leaf: TextLeaf): FittedNode {
  const node: FittedNode = {
    read(cursor, repetition) {
      const { json, at } = cursor;
      if (json.bytes[at] === NULL) {
        skipOther(cursor, node, repetition, leaf.definition - 1);
        return;
      }
      cursor.at = skipDeepValue(json, at, 0);
      leaf.add(repetition, json, at, cursor.at, hashOf(json, at, cursor.at));
    },
    none: (repetition, definition) => addLevels(leaf.levels, repetition, definition),
  };
  return node;
}

/**
 * Adds the string at the cursor and moves behind it, if it has no escapes; otherwise false. Four bytes at a time are
 * hashed, and looked through for the end as `skipText` does.
 */
function readPlain(cursor: Cursor, leaf: TextLeaf, repetition: number): boolean {
  const { bytes, view } = cursor.json;
  const start = cursor.at + 1;
  const lastWord = bytes.length - 4;
  let hash = 0;
  let at = start;
  for (; at <= lastWord; at += 4) {
    const word = view.getInt32(at, true);
    const marks =
      (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;
    if (marks !== 0) break;
    hash = mixed(hash, word);
  }
  for (let byte = bytes[at] ?? 0; byte !== QUOTE; byte = bytes[at] ?? 0) {
    if (byte === BACKSLASH || byte < 0x20) return false;
    hash = mixed(hash, byte);
    at += 1;
  }
  cursor.at = at + 1;
  leaf.add(repetition, cursor.json, start, at, hash);
  return true;
}

/** A string with escapes, from quote to quote, as UTF-8; undefined if a surrogate in it is alone. */
function decoded(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const text = JSON.parse(bytes.toString('utf8', start, end)) as string;
  return text.isWellFormed() ? Buffer.from(text) : undefined;
}
