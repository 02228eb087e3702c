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

function compareOwned(a: string, b: string): number {
  // An owner's id may contain slashes; an integer cannot.
  const [left, right] = [a.lastIndexOf('/'), b.lastIndexOf('/')];
  return (
    compareTexts(a.slice(0, left), b.slice(0, right)) || compareIds(a.slice(left + 1), b.slice(right + 1))
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : idDigits(value));
