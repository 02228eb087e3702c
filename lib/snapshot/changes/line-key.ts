import { StoredObjectError } from '../../store/index.ts';
import { QUOTE } from '../page/json-bytes.ts';
import type { RecordKey } from '../sources/source-definition.ts';
import {
  createRecordFields,
  lastNamed,
  NONE,
  noMembers,
  type ReadLine,
  readMembers,
  readRecord,
} from './line-members.ts';
import type { LineReader } from './line-reader.ts';
import { describeKey, recordKey } from './record-key.ts';

const ZERO = 0x30;
const BACKSLASH = 0x5c;

/**
 * Makes a function that returns the key of a reader's current line, by the rule of `recordKey`, without parsing the
 * line unless it is unusual; `members` has the line's members then. Throws `StoredObjectError` that names a line that is
 * not a record with a key.
 */
export function createLineKey(rule: RecordKey, members = noMembers()): (reader: LineReader) => string {
  const keyOf = createPlainKey(rule);
  const readFields = createRecordFields([...(rule.owner ?? []), rule.id], members);
  return (reader) => {
    const key = keyOf(readRecord(reader, members)) ?? recordKey(rule, readFields(reader));
    if (key !== undefined) return key;
    throw new StoredObjectError(
      'invalid',
      `${reader.place()}: expected a record with ${describeKey(rule)}, got none`,
    );
  };
}

/**
 * The same for a line whose bytes are known to be those of a record, such as a line that is equal in two runs: if it
 * begins with its key, nothing after it is read.
 */
export function createQuickKey(rule: RecordKey): (reader: LineReader) => string {
  const [readKey, keyOf, members] = [createLineKey(rule), createPlainKey(rule), noMembers()];
  const most = rule.owner === undefined ? 1 : 2;
  return (reader) => {
    readMembers(reader.line, members, most);
    return keyOf({ line: reader.line, members }) ?? readKey(reader);
  };
}

/** Makes a function that returns the key of a line; undefined if the line has to be parsed for that. */
function createPlainKey({ owner, id, isInteger }: RecordKey) {
  const own = Buffer.from(id);
  const owners = owner?.map((name) => Buffer.from(name));
  return (read: ReadLine): string | undefined => {
    const at = lastNamed(read, own);
    const key = at === NONE ? undefined : (isInteger ? digitsAt : plainTextAt)(read, at);
    if (owners === undefined || key === undefined) return key;
    const ownerAt = owners.map((name) => lastNamed(read, name)).find((each) => each !== NONE) ?? NONE;
    const owning = ownerAt === NONE ? undefined : plainTextAt(read, ownerAt);
    return owning === undefined ? undefined : `${owning}/${key}`;
  };
}

/** The digits of an integer from 0 on. */
function digitsAt({ line, members }: ReadLine, at: number): string | undefined {
  const { bytes } = line.json;
  const [start, end] = [members.valueStarts[at] ?? 0, members.valueEnds[at] ?? 0];
  if (bytes[start] === ZERO && end - start > 1) return undefined;
  for (let each = start; each < end; each += 1) {
    const digit = (bytes[each] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
  }
  return bytes.toString('latin1', start, end);
}

/** A text without escapes. */
function plainTextAt({ line, members }: ReadLine, at: number): string | undefined {
  const { bytes } = line.json;
  const [start, end] = [members.valueStarts[at] ?? 0, members.valueEnds[at] ?? 0];
  if (bytes[start] !== QUOTE) return undefined;
  for (let each = start; each < end; each += 1) if (bytes[each] === BACKSLASH) return undefined;
  return bytes.toString('utf8', start + 1, end - 1);
}
