import { QUOTE, skipDeepValue, skipText, skipValue } from '../../snapshot/page/json-bytes.ts';
import type { FittedNode } from './fitted-node.ts';
import { addLevels } from './levels.ts';
import type { Reading } from './reading.ts';
import { startsNumber } from './scalar-nodes.ts';
import { skipOther } from './skip-other.ts';
import { addSpan, addString, addUtf8 } from './text-leaf.ts';

const NULL = 0x6e;

type TextNode = Extract<FittedNode, { kind: 'text' | 'json' }>;

/** Reads a text, or a number as its digits. */
export function readText(node: TextNode, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const column = node.parts;
  const first = json.bytes[at] ?? 0;
  if (first === QUOTE) {
    const quote = addString(column, repetition, json, at + 1);
    return quote === -1 ? readEscaped(node, reading, at, repetition) : quote + 1;
  }
  if (!startsNumber(first)) return skipOther(node, reading, at, repetition, column.definition - 1);
  const end = skipValue(json, at, 0);
  addSpan(column, repetition, json, at, end);
  return end;
}

function readEscaped({ parts }: TextNode, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  const end = skipText(json, at);
  const text = decoded(json.bytes, at, end);
  if (text !== undefined) addUtf8(parts, repetition, text);
  else {
    reading.fits = false;
    addLevels(parts.levels, repetition, parts.definition - 1);
  }
  return end;
}

/** A string with escapes, from quote to quote, as UTF-8; undefined if a surrogate in it is alone. */
function decoded(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const text = JSON.parse(bytes.toString('utf8', start, end)) as string;
  return text.isWellFormed() ? Buffer.from(text) : undefined;
}

/** Reads a value of any kind, as its JSON. */
export function readJson(node: TextNode, reading: Reading, at: number, repetition: number): number {
  const { json } = reading;
  if (json.bytes[at] === NULL) return skipOther(node, reading, at, repetition, node.parts.definition - 1);
  const end = skipDeepValue(json, at, 0);
  addSpan(node.parts, repetition, json, at, end);
  return end;
}
