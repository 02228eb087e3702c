import {
  CLOSE_OBJECT,
  OPEN_OBJECT,
  skipDeepValue,
  skipName,
  skipText,
} from '../../snapshot/page/json-bytes.ts';
import { type Cursor, isFilled, isMore, readName } from './cursor.ts';
import { type FittedNode, skipOther } from './fitted-node.ts';
import type { LeafPlace } from './leaf.ts';
import { addLevels } from './levels.ts';
import type { TextLeaf } from './text-leaf.ts';
import { hashOf } from './texts.ts';

/** What a map consists of, and where it is. */
type MapParts = { readonly key: TextLeaf; readonly value: FittedNode; readonly place: LeafPlace };

/** A map with more keys, or with escapes in them, is read with care. */
const MOST_COMPARED = 16;

const BACKSLASH = 0x5c;

/** Maps of texts to what `value` writes; `place` is that of the map. */
export function mapNode(parts: MapParts): FittedNode {
  const { definition } = parts.place;
  return {
    read(cursor, repetition) {
      if (cursor.json.bytes[cursor.at] !== OPEN_OBJECT)
        skipOther(cursor, { none: (...levels) => writeNone(parts, ...levels) }, repetition, definition - 1);
      else if (cursor.isCareful) readCarefully(parts, cursor, repetition);
      else readQuickly(parts, cursor, repetition);
    },
    none: (repetition, level) => writeNone(parts, repetition, level),
  };
}

function writeNone({ key, value }: MapParts, repetition: number, definition: number): void {
  addLevels(key.levels, repetition, definition);
  value.none(repetition, definition);
}

function readQuickly(parts: MapParts, cursor: Cursor, repetition: number): void {
  const { key, value, place } = parts;
  const { json } = cursor;
  const starts: number[] = [];
  const ends: number[] = [];
  let isIn = isFilled(cursor);
  if (!isIn) writeNone(parts, repetition, place.definition);
  for (; isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
    const start = cursor.at;
    const end = skipText(json, start);
    cursor.at = skipName(json, start);
    const level = starts.length === 0 ? repetition : place.repetition + 1;
    if (starts.length === MOST_COMPARED || hasEscape(json.bytes, start, end)) cursor.repeats = true;
    for (let index = 0; index < starts.length; index += 1)
      if (isSame(json.bytes, starts[index] ?? 0, ends[index] ?? 0, start, end)) cursor.repeats = true;
    if (starts.length < MOST_COMPARED) {
      starts.push(start);
      ends.push(end);
    }
    key.add(level, json, start + 1, end - 1, hashOf(json, start + 1, end - 1));
    value.read(cursor, level);
  }
}

/** Of entries with the same key, the first has the place and the last the value. */
function readCarefully(parts: MapParts, cursor: Cursor, repetition: number): void {
  const { key, value, place } = parts;
  const places = new Map<string, number>();
  for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
    const name = readName(cursor);
    if (name === undefined || places.has(name)) cursor.fits = false;
    if (name !== undefined) places.set(name, cursor.at);
    cursor.at = skipDeepValue(cursor.json, cursor.at, 0);
  }
  const end = cursor.at;
  if (places.size === 0) writeNone(parts, repetition, place.definition);
  let level = repetition;
  for (const [name, at] of places) {
    key.addText(level, Buffer.from(name));
    cursor.at = at;
    value.read(cursor, level);
    level = place.repetition + 1;
  }
  cursor.at = end;
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function isSame(bytes: Buffer, start: number, end: number, otherStart: number, otherEnd: number): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (let offset = 0; offset < end - start; offset += 1)
    if (bytes[start + offset] !== bytes[otherStart + offset]) return false;
  return true;
}
