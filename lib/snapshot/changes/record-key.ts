import { compareIds, idDigits } from '../../platform/index.ts';
import type { RecordKey } from '../sources/source-definition.ts';

/** A record's key: an id, after its owner and a slash if it has an owner. Undefined if a field that it needs is absent. */
export function recordKey({ owner, id, isInteger }: RecordKey, record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const fields = record as Readonly<Record<string, unknown>>;
  const own = isInteger ? idDigits(fields[id]) : textOf(fields[id]);
  if (owner === undefined || own === undefined) return own;
  const owning = textOf(owner.map((name) => fields[name]).find((value) => value != null));
  return owning === undefined ? undefined : `${owning}/${own}`;
}

export function describeKey({ owner, id, isInteger }: RecordKey): string {
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
  const [left, right] = [a.lastIndexOf('/'), b.lastIndexOf('/')];
  return (
    compareTexts(a.slice(0, left), b.slice(0, right)) || compareIds(a.slice(left + 1), b.slice(right + 1))
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : idDigits(value));
