import { QUOTE } from '../../base/bytes/index.ts';
import { compareIds, idDigits } from '../../platform/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import type { Manifest, Part } from '../manifest.ts';
import type { RecordKey } from '../sources/source-definition.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import {
  createRecordFields,
  isPlain,
  lastNamed,
  NONE,
  noMembers,
  type ReadLine,
  readRecord,
} from './line-members.ts';
import { bytesOf, type LineReader, readLines } from './line-reader.ts';

/**
 * Makes a function that returns the key of a reader's current line, without parsing it unless it is unusual; `members`
 * has the line's members then. Throws `StoredObjectError` that names a line that is not a record with a key.
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

/** Makes a function that returns the key of a line; undefined if the line has to be parsed for that. */
function createPlainKey({ owner, id, isInteger }: RecordKey) {
  const own = Buffer.from(id);
  const owners = owner?.map((name) => Buffer.from(name));
  return (read: ReadLine): string | undefined => {
    const at = lastNamed(read, own);
    const key = at === NONE ? undefined : plainAt(read, at, isInteger);
    if (owners === undefined || key === undefined) return key;
    const ownerAt = owners.map((name) => lastNamed(read, name)).find((each) => each !== NONE) ?? NONE;
    const owning = ownerAt === NONE ? undefined : plainAt(read, ownerAt);
    return owning === undefined ? undefined : `${owning}/${key}`;
  };
}

/** A member's value without parsing it: the digits of an integer, or ASCII without escapes; undefined if it is neither. */
function plainAt({ line, members }: ReadLine, at: number, isInteger = false): string | undefined {
  const { bytes } = line.json;
  const start = members.valueStarts[at] ?? 0;
  const end = members.valueEnds[at] ?? 0;
  const isText = bytes[start] === QUOTE;
  if (isText === isInteger || !isPlain(line, start, end)) return undefined;
  return isText ? bytes.toString('latin1', start + 1, end - 1) : bytes.toString('latin1', start, end);
}

/** A record's key: an id, after its owner and a slash if it has an owner. Undefined if a field that it needs is absent. */
export function recordKey({ owner, id, isInteger }: RecordKey, record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const fields = record as Readonly<Record<string, unknown>>;
  const own = isInteger ? idDigits(fields[id]) : textOf(fields[id]);
  if (owner === undefined || own === undefined) return own;
  const owning = textOf(owner.map((name) => fields[name]).find((value) => value != null));
  return owning === undefined ? undefined : `${owning}/${own}`;
}

function describeKey({ owner, id, isInteger }: RecordKey): string {
  const own = isInteger ? `an integer as its ${id}` : id;
  return owner === undefined ? own : `${owner.join(' or ')}${isInteger ? ',' : ''} and ${own}`;
}

/** Compares two keys: those with integer ids by owner, as text, and then by value, of any size; all others as text. */
export function compareRecordKeys({ owner, isInteger }: RecordKey): (a: string, b: string) => number {
  if (!isInteger) return compareTexts;
  return owner === undefined ? compareIds : compareOwned;
}

/** The id that a record was read by: its owner's, if it has one, or its own. An owner of an integer may contain slashes. */
export function readBy({ owner, isInteger }: RecordKey, key: string): string {
  if (owner === undefined) return key;
  return key.slice(0, isInteger ? key.lastIndexOf('/') : key.indexOf('/'));
}

function compareOwned(a: string, b: string): number {
  const left = a.lastIndexOf('/');
  const right = b.lastIndexOf('/');
  return (
    compareTexts(a.slice(0, left), b.slice(0, right)) || compareIds(a.slice(left + 1), b.slice(right + 1))
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : idDigits(value));

type RunKeysOptions = {
  readonly store: Store;
  readonly source: Source;
  readonly run: Pick<Manifest, 'parts'>;
  readonly signal?: AbortSignal | undefined;
};

const KEYS_AT_ONCE = 1_000;

/** The keys of a run's records in order, a thousand at a time: singly takes twice as long. Throws `StoredObjectError`. */
export async function* runKeys({
  store,
  source,
  run,
  signal,
}: RunKeysOptions): AsyncGenerator<readonly string[]> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts: run.parts, signal });
  let keys: string[] = [];
  try {
    for (let found = reader.next(); typeof found === 'boolean' ? found : await found; found = reader.next()) {
      keys.push(keyOf(reader));
      reader.release();
      if (keys.length < KEYS_AT_ONCE) continue;
      yield keys;
      keys = [];
    }
    if (keys.length > 0) yield keys;
  } finally {
    await reader.close();
  }
}

type RecordsToFind = {
  readonly store: Store;
  readonly source: Source;
  readonly manifest: Pick<Manifest, 'order' | 'parts'>;
  /** A key, or an id without its owner. */
  readonly id: string;
  readonly signal?: AbortSignal | undefined;
};

/** The records of a run with this key, or with this id under any owner, as text. Reads only parts that may hold one. */
export async function* findRecords({
  store,
  source,
  manifest: { order, parts: all },
  id,
  signal,
}: RecordsToFind): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const { key: rule } = sourceDefinitions[source].records;
  const isOwned = rule.owner !== undefined;
  const isOrdered = (!isOwned || id.includes('/')) && KEY_ORDERS.includes(order) && endsInDigits(id);
  const parts = all.filter(isOrdered ? mayHold(id, compareRecordKeys(rule)) : () => true);
  const keyOf = createLineKey(rule);
  const reader = readLines({ store, parts, signal });
  try {
    for (let next = reader.next(); next === true || (await next); next = reader.next()) {
      const key = keyOf(reader);
      if (key === id || (isOwned && key.endsWith(`/${id}`)))
        yield { key, text: bytesOf(reader.line).toString() };
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

/** The orders of runs in which no key is below the one before. */
const KEY_ORDERS: readonly string[] = ['id', 'ids'];

/** Whether a part may hold a record. A part whose keys do not show that is read. */
const mayHold =
  (key: string, compare: (a: string, b: string) => number) =>
  ({ firstKey, lastKey }: Part): boolean =>
    ![firstKey, lastKey].every(endsInDigits) ||
    compare(firstKey, lastKey) > 0 ||
    (compare(firstKey, key) <= 0 && compare(key, lastKey) <= 0);

const endsInDigits = (key: string): boolean => /^\d+$/.test(key.slice(key.lastIndexOf('/') + 1));
