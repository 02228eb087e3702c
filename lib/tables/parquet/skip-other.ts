import { skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import type { FittedNode } from './fitted-node.ts';
import { addToEach } from './levels.ts';
import type { Reading } from './reading.ts';

const NULL = 0x6e;

/**
 * Writes null for a value that does not fit: of its path, there is as much as `definition` says. Null fits everywhere.
 * Returns the index behind the value, whatever its depth.
 */
export function skipOther(
  { levels }: Pick<FittedNode, 'levels'>,
  reading: Reading,
  at: number,
  repetition: number,
  definition: number,
): number {
  if (reading.json.bytes[at] !== NULL) reading.fits = false;
  const end = skipDeepValue(reading.json, at, 0);
  addToEach(levels, repetition, definition);
  return end;
}
