import { skipDeepValue, skipValue } from '../../snapshot/page/json-bytes.ts';
import { addBoolean } from './boolean-leaf.ts';
import { exactInteger } from './exact-integer.ts';
import type { FittedNode } from './fitted-node.ts';
import { addInteger } from './integer-leaf.ts';
import { addLevels } from './levels.ts';
import type { Reading } from './reading.ts';
import { skipOther } from './skip-other.ts';

const MINUS = 0x2d;
const ZERO = 0x30;
/** The letters of `true`, as one number. */
const TRUE = 0x65757274;
/** So many digits are a safe integer. */
const SAFE_DIGITS = 15;

/** True for the first byte of a number. */
export const startsNumber = (byte: number): boolean => byte === MINUS || isDigit(byte);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

export function readInteger(
  node: Extract<FittedNode, { kind: 'integer' }>,
  reading: Reading,
  at: number,
  repetition: number,
): number {
  const { json } = reading;
  const { bytes } = json;
  const values = node.parts;
  const first = bytes[at] === MINUS ? at + 1 : at;
  let digitsEnd = first;
  let value = 0;
  for (let byte = bytes[digitsEnd] ?? 0; isDigit(byte); byte = bytes[digitsEnd] ?? 0) {
    value = value * 10 + byte - ZERO;
    digitsEnd += 1;
  }
  if (digitsEnd === first) return skipOther(node, reading, at, repetition, values.definition - 1);
  const end = skipValue(json, at, 0);
  const isPlain = end === digitsEnd && end - first <= SAFE_DIGITS;
  const plain = first === at ? value : -value;
  const exact = isPlain ? plain : exactInteger(bytes.toString('latin1', at, end));
  if (exact !== undefined) addInteger(values, repetition, exact);
  else {
    reading.fits = false;
    addLevels(values.levels, repetition, values.definition - 1);
  }
  return end;
}

export function readBoolean(
  node: Extract<FittedNode, { kind: 'boolean' }>,
  reading: Reading,
  at: number,
  repetition: number,
): number {
  const { json } = reading;
  const first = json.bytes[at];
  if (first !== 0x74 && first !== 0x66)
    return skipOther(node, reading, at, repetition, node.parts.definition - 1);
  const isTrue = at + 4 <= json.bytes.length && json.view.getInt32(at, true) === TRUE;
  const end = isTrue ? at + 4 : skipValue(json, at, 0);
  addBoolean(node.parts, repetition, isTrue);
  return end;
}

export function readKnown(known: Buffer, reading: Reading, at: number): number {
  const end = skipDeepValue(reading.json, at, 0);
  if (!known.equals(reading.json.bytes.subarray(at, end))) reading.fits = false;
  return end;
}
