import { CLOSE_ARRAY, OPEN_ARRAY } from '../../snapshot/page/json-bytes.ts';
import type { FittedNode, ReadNode } from './fitted-node.ts';
import { addToEach } from './levels.ts';
import { firstItem, nextItem } from './members.ts';
import type { Reading } from './reading.ts';
import { skipOther } from './skip-other.ts';

/** Reads a list of what its element writes. */
export function readArray(
  { levels, parts: { element, place } }: Extract<FittedNode, { kind: 'array' }>,
  reading: Reading,
  start: number,
  repetition: number,
  read: ReadNode,
): number {
  const { bytes } = reading.json;
  const { definition } = place;
  if (bytes[start] !== OPEN_ARRAY) return skipOther({ levels }, reading, start, repetition, definition - 1);
  let at = firstItem(bytes, start, CLOSE_ARRAY);
  if (at < 0) addToEach(levels, repetition, definition);
  let level = repetition;
  while (at >= 0) {
    at = nextItem(bytes, read(element, reading, at, level), CLOSE_ARRAY);
    level = place.repetition + 1;
  }
  return ~at;
}
