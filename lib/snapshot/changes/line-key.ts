import { StoredObjectError } from '../../store/stored-json.ts';
import type { RecordKey } from '../sources/source-definition.ts';
import { createLayoutReader, noPlaces } from './line-layout.ts';
import type { Line, LineReader } from './line-reader.ts';
import { parsedLine } from './parsed-line.ts';
import { describeKey, recordKey } from './record-key.ts';
import { keyAt, keyPlaces } from './record-layout.ts';

const ZERO = 0x30;
const NINE = 0x39;
const QUOTE = 0x22;

/**
 * Makes a function that returns the key of a reader's current line, by the rule of `recordKey`, without parsing the
 * line unless it is unusual. Throws `StoredObjectError` that names a line that is not a record with a key.
 */
export function createLineKey(rule: RecordKey): (reader: LineReader) => string {
  const places = noPlaces();
  const readLayout = createLayoutReader((names) => keyPlaces(rule, names));
  const usualKey = createUsualKey(rule);
  return (reader) => {
    const { line } = reader;
    const usual = usualKey(line);
    if (usual !== undefined) return usual;
    try {
      const key = keyAt(rule, line, places, readLayout(line, places));
      if (key !== undefined) return key;
    } catch {
      // Not JSON, or nested deeper than bytes are followed.
    }
    return parsedKey(rule, reader);
  };
}

/**
 * Makes a function that returns the key of a line that begins with its owner and id, both texts, as files do, and names
 * them nowhere else: then nothing else has to be read. Undefined for any other line.
 */
function createUsualKey({ owner, id, isInteger }: RecordKey): (line: Line) => string | undefined {
  const [first, ...others] = owner ?? [];
  if (first === undefined || others.length > 0 || isInteger) return () => undefined;
  const [head, middle] = [Buffer.from(`{"${first}":"`), Buffer.from(`","${id}":"`)];
  const names = [Buffer.from(`"${first}"`), Buffer.from(`"${id}"`)];
  /** Where the next backslash is in the bytes that were searched last. */
  let [searched, searchedFrom, backslash]: [Buffer, number, number] = [NO_BYTES, 0, 0];
  return ({ json: { bytes }, start, end }) => {
    if (bytes.compare(head, 0, head.length, start, start + head.length) !== 0) return undefined;
    if (bytes !== searched || start < searchedFrom || start > backslash) {
      const found = bytes.indexOf(BACKSLASH, start);
      [searched, searchedFrom, backslash] = [bytes, start, found === -1 ? bytes.length : found];
    }
    if (backslash < end) return undefined;
    const ownerStart = start + head.length;
    const ownerEnd = bytes.indexOf(QUOTE, ownerStart);
    const idStart = ownerEnd + middle.length;
    if (idStart >= end || bytes.compare(middle, 0, middle.length, ownerEnd, idStart) !== 0) return undefined;
    const idEnd = bytes.indexOf(QUOTE, idStart);
    if (idEnd >= end) return undefined;
    for (const name of names) {
      const again = bytes.indexOf(name, idEnd + 1);
      if (again !== -1 && again < end) return undefined;
    }
    return `${bytes.toString('utf8', ownerStart, ownerEnd)}/${bytes.toString('utf8', idStart, idEnd)}`;
  };
}

const NO_BYTES = Buffer.alloc(0);
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * The same for a line whose bytes are known to be those of a record, such as a line that is equal in two runs: if it
 * begins with its id, nothing after it is read.
 */
export function createQuickKey(rule: RecordKey): (reader: LineReader) => string {
  const readKey = createLineKey(rule);
  if (rule.owner !== undefined || !rule.isInteger) return readKey;
  const head = Buffer.from(`{"${rule.id}":`);
  return (reader) => {
    const { json, start, end } = reader.line;
    const { bytes } = json;
    for (let at = 0; at < head.length; at += 1) if (bytes[start + at] !== head[at]) return readKey(reader);
    const from = start + head.length;
    let at = from;
    while (at < end && (bytes[at] ?? 0) >= ZERO && (bytes[at] ?? 0) <= NINE) at += 1;
    const isUsual = at > from && bytes[at] === COMMA && (bytes[from] !== ZERO || at === from + 1);
    return isUsual ? bytes.toString('latin1', from, at) : readKey(reader);
  };
}

function parsedKey(rule: RecordKey, reader: LineReader): string {
  const { place } = reader;
  const key = recordKey(rule, parsedLine(reader));
  if (key !== undefined) return key;
  throw new StoredObjectError('invalid', `${place()}: expected a record with ${describeKey(rule)}, got none`);
}
