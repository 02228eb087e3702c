import { CLOSE_OBJECT, OPEN_OBJECT, skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import { findName, isNameAt, lengthOf } from './find-name.ts';
import type { FittedNode, ReadNode, StructParts } from './fitted-node.ts';
import { addToEach } from './levels.ts';
import { firstItem, nextItem } from './members.ts';
import type { Reading } from './reading.ts';
import { skipOther } from './skip-other.ts';

type StructNode = Extract<FittedNode, { kind: 'struct' }>;

/** Reads a struct of what its fields write. */
export function readStruct(
  node: StructNode,
  reading: Reading,
  at: number,
  repetition: number,
  read: ReadNode,
): number {
  if (reading.json.bytes[at] !== OPEN_OBJECT)
    return skipOther(node, reading, at, repetition, node.parts.place.definition - 1);
  return (reading.isCareful ? readCarefully : readQuickly)(node.parts, reading, at, repetition, read);
}

function readQuickly(
  { fields, names, place }: StructParts,
  reading: Reading,
  open: number,
  repetition: number,
  read: ReadNode,
): number {
  const { json } = reading;
  let seen = 0;
  let index = -1;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    index += 1;
    if (isNameAt(names, index, json, at)) at += lengthOf(names, index);
    else {
      index = findName(names, reading, at);
      at = reading.behindName;
    }
    const field = fields[index];
    const bit = 1 << index;
    if (field === undefined || (seen & bit) !== 0) {
      if (field !== undefined) reading.repeats = true;
      reading.fits = false;
      at = skipDeepValue(json, at, 0);
    } else {
      seen |= bit;
      at = read(field, reading, at, repetition);
    }
    at = nextItem(json.bytes, at, CLOSE_OBJECT);
  }
  if (seen !== ~(-1 << fields.length))
    for (let field = 0; field < fields.length; field += 1)
      if ((seen & (1 << field)) === 0) addToEach(fields[field]?.levels ?? [], repetition, place.definition);
  return ~at;
}

/** Of fields with the same name the last one counts. */
function readCarefully(
  { fields, names, place }: StructParts,
  reading: Reading,
  open: number,
  repetition: number,
  read: ReadNode,
): number {
  const { json } = reading;
  const places: (number | undefined)[] = fields.map(() => undefined);
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    const index = findName(names, reading, at);
    if (index === -1 || places[index] !== undefined) reading.fits = false;
    if (index !== -1) places[index] = reading.behindName;
    at = nextItem(json.bytes, skipDeepValue(json, reading.behindName, 0), CLOSE_OBJECT);
  }
  for (const [index, field] of fields.entries()) {
    const valueAt = places[index];
    if (valueAt === undefined) addToEach(field.levels, repetition, place.definition);
    else read(field, reading, valueAt, repetition);
  }
  return ~at;
}
