import { PlatformError } from '../../../platform/index.ts';
import { searchCalculations } from '../../../platform/operations/search-calculations.ts';
import type { SortedRow } from './sorted-pages.ts';

/**
 * Makes a function that returns when a record was created, in epoch milliseconds, from epoch milliseconds or ISO text
 * (read as UTC if it has no zone, since only the order matters). Anything finer than a millisecond is cut off: more
 * records are then equal, but their order does not change. All records must use the same form: a platform that sorts a
 * mixture may not sort it by time. Throws `PlatformError` of kind `shape`.
 */
export function createCreationTime(): (row: Pick<SortedRow, 'key' | 'sentCreated'>) => number {
  let form: 'epoch milliseconds' | 'ISO text' | undefined;
  return ({ key, sentCreated: created }) => {
    const found = typeof created === 'string' ? 'ISO text' : 'epoch milliseconds';
    const time = typeof created === 'string' ? timeOfText(created) : created;
    if (typeof time !== 'number' || !Number.isFinite(time)) {
      throw shapeOf(key, `expected created as epoch milliseconds or ISO text, got ${typeOf(created)}`);
    }
    form ??= found;
    if (form !== found) throw shapeOf(key, `expected created as ${form}, as before, got ${found}`);
    return time;
  };
}

function timeOfText(text: string): number {
  const [, local, zone] = ISO_TIME.exec(text) ?? [];
  return local === undefined ? Number.NaN : Date.parse(`${local.replace(' ', 'T')}${zone ?? 'Z'}`);
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/;

function typeOf(value: unknown): string {
  if (typeof value === 'string') return 'other text';
  return value === null ? 'null' : value === undefined ? 'nothing' : typeof value;
}

const shapeOf = (key: string, fault: string) =>
  shapeError(searchCalculations.name, 'calculations', `record ${key}: ${fault}`);

/** The error for a response that lacks what the contract requires; `fault` names the record and the field. */
function shapeError(operation: string, about: string, fault: string): PlatformError {
  return new PlatformError({ kind: 'shape', faults: [fault] }, { operation, about, attempts: 1 });
}
