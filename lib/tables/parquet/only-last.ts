import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  firstItem,
  type JsonBytes,
  jsonBytesOf,
  nextItem,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipDeepValue,
  skipName,
} from '../../base/bytes/index.ts';
import { nameAt } from './names.ts';

/** What is nested deeper stays as it is: no column is. */
const MAX_DEPTH = 64;

/** A record with, of members of one name, the last alone at any depth, as JSON readers have it. */
type OnlyLast = {
  readonly json: JsonBytes;
  /** Where the last member of each name was: the index of its name's quote, and the index behind its value. */
  readonly spans: ReadonlyMap<unknown, readonly [start: number, end: number]>;
};

/** Reads the object at `at`; what stays is byte for byte, but for space between members. */
export function onlyLast(json: JsonBytes, at: number): OnlyLast {
  const spans = new Map<unknown, readonly [number, number]>();
  const { text } = printed(json, at, 0, spans);
  return { json: jsonBytesOf(Buffer.from(text, 'latin1')), spans };
}

/** The same of the value at `at`, if a member of an object in it comes again under its name; otherwise undefined. */
export function withoutRepeats(json: JsonBytes, at: number): Buffer | undefined {
  const { text, repeats } = printed(json, at, 0);
  return repeats ? Buffer.from(text, 'latin1') : undefined;
}

type Printed = { readonly text: string; readonly end: number; readonly repeats: boolean };

function printed(
  json: JsonBytes,
  at: number,
  depth: number,
  spans?: Map<unknown, readonly [number, number]>,
): Printed {
  const { bytes } = json;
  const isObject = bytes[at] === OPEN_OBJECT;
  if (depth === MAX_DEPTH || !(isObject || bytes[at] === OPEN_ARRAY)) {
    const end = skipDeepValue(json, at, 0);
    return { text: bytes.toString('latin1', at, end), end, repeats: false };
  }
  const close = isObject ? CLOSE_OBJECT : CLOSE_ARRAY;
  const items = new Map<unknown, string>();
  let repeats = false;
  let item = firstItem(bytes, at, close);
  while (item >= 0) {
    const valueAt = isObject ? skipName(json, item) : item;
    const { text, end, repeats: within } = printed(json, valueAt, depth + 1);
    const name = isObject ? nameAt(json, item) : items.size;
    // It moves to the end, where the last one stands.
    repeats = items.delete(name) || within || repeats;
    items.set(name, bytes.toString('latin1', item, valueAt) + text);
    spans?.set(name, [item, end]);
    item = nextItem(bytes, end, close);
  }
  const inside = [...items.values()].join(',');
  return { text: isObject ? `{${inside}}` : `[${inside}]`, end: ~item, repeats };
}
