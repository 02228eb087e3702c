import {
  CLOSE_OBJECT,
  OPEN_OBJECT,
  skipDeepValue,
  skipName,
  skipText,
} from '../../snapshot/page/json-bytes.ts';
import type { FittedNode, MapParts, ReadNode } from './fitted-node.ts';
import { addToEach } from './levels.ts';
import { firstItem, nextItem } from './members.ts';
import { type Reading, readName } from './reading.ts';
import { skipOther } from './skip-other.ts';
import { addSpan, addUtf8 } from './text-leaf.ts';

type MapNode = Extract<FittedNode, { kind: 'map' }>;

/** A map with more keys, or with escapes in them, is read with care. */
const MOST_COMPARED = 16;

const BACKSLASH = 0x5c;

/** Reads a map of texts to what its value writes. */
export function readMap(
  node: MapNode,
  reading: Reading,
  at: number,
  repetition: number,
  read: ReadNode,
): number {
  if (reading.json.bytes[at] !== OPEN_OBJECT)
    return skipOther(node, reading, at, repetition, node.parts.place.definition - 1);
  return (reading.isCareful ? readCarefully : readQuickly)(node, reading, at, repetition, read);
}

function readQuickly(
  { levels, parts }: MapNode,
  reading: Reading,
  open: number,
  repetition: number,
  read: ReadNode,
): number {
  const { key, value, place } = parts;
  const { json } = reading;
  let count = 0;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  if (at < 0) addToEach(levels, repetition, place.definition);
  while (at >= 0) {
    const end = skipText(json, at);
    const level = count === 0 ? repetition : place.repetition + 1;
    if (mayRepeat(parts, json.bytes, count, at, end)) reading.repeats = true;
    count += 1;
    const valueAt = skipName(json, at);
    addSpan(key, level, json, at + 1, end - 1);
    at = nextItem(json.bytes, read(value, reading, valueAt, level), CLOSE_OBJECT);
  }
  return ~at;
}

/** True unless a key is certainly none of the `count` ones before it. */
function mayRepeat(
  { starts, ends }: MapParts,
  bytes: Buffer,
  count: number,
  start: number,
  end: number,
): boolean {
  if (count >= MOST_COMPARED) return true;
  starts[count] = start;
  ends[count] = end;
  for (let index = 0; index < count; index += 1)
    if (isSame(bytes, starts[index] ?? 0, ends[index] ?? 0, start, end)) return true;
  return hasEscape(bytes, start, end);
}

/** Of entries with the same key, the first has the place and the last the value. */
function readCarefully(
  { levels, parts: { key, value, place } }: MapNode,
  reading: Reading,
  open: number,
  repetition: number,
  read: ReadNode,
): number {
  const { json } = reading;
  const places = new Map<string, number>();
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    const name = readName(reading, at);
    const valueAt = reading.behindName;
    if (name === undefined || places.has(name)) reading.fits = false;
    if (name !== undefined) places.set(name, valueAt);
    at = nextItem(json.bytes, skipDeepValue(json, valueAt, 0), CLOSE_OBJECT);
  }
  if (places.size === 0) addToEach(levels, repetition, place.definition);
  let level = repetition;
  for (const [name, valueAt] of places) {
    addUtf8(key, level, Buffer.from(name));
    read(value, reading, valueAt, level);
    level = place.repetition + 1;
  }
  return ~at;
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
