import { systemReason } from '../../base/aws/index.ts';
import { nearestName } from '../../base/index.ts';
import type { Ledger } from '../../jobs/index.ts';
import { StoredObjectError } from '../../store/index.ts';

/** A command received something that it cannot use. The message says what was expected, and what it got. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The name of the one value that was given. Throws `UsageError` if there are several, or no value and one is `needed`.
 */
export function oneGiven(values: Readonly<Record<string, unknown>>, need?: 'needed'): string | undefined {
  const all = Object.keys(values);
  const given = all.filter((name) => values[name] !== undefined);
  if (given.length === 1 || (given.length === 0 && need === undefined)) return given[0];
  throw new UsageError(`expected ${all.join(' or ')}, got ${given.join(' and ') || 'none'}`);
}

/** The error for a file that is not as expected. `got` is in words, or the system's error. */
export const fileError = (place: string, expected: string, got: unknown): UsageError =>
  new UsageError(`${placeNamed(place)}: expected ${expected}, got ${systemReason(got)}`, { cause: got });

const placeNamed = (place: string): string => (place === '-' ? 'standard input' : place || '""');

/**
 * Turns a failed read of a run into a `UsageError` if `option` named a run that does not exist; otherwise
 * returns the error unchanged. An object that exists but cannot be read is not wrong usage.
 */
export const asUsage = (option: string, error: unknown): unknown =>
  error instanceof StoredObjectError && error.kind === 'missing'
    ? new UsageError(`${option}: ${error.message}`, { cause: error })
    : error;

/** Waits for `work`. If something in the store is missing or damaged, adds to the error how to fix it. */
export async function withWayOut<T>(wayOut: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    throw new StoredObjectError(error.kind, `${error.message}; ${wayOut}`, { cause: error });
  }
}

/** The error for a name that does not exist; it suggests the nearest one. `where`: where it was searched. */
export function unknownError(named: string, name: string, where: string, names: Iterable<string>): Error {
  const nearest = nearestName(name, names);
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return new Error(`${named} ${name}: ${where}${meant}`);
}

/** The error for a job that is not in the ledger; it suggests the nearest id. */
export const unknownJob = async (id: string, ledger: Pick<Ledger, 'list'>): Promise<Error> =>
  unknownError('job', id, 'not in the ledger', await Array.fromAsync(ledger.list(), (row) => row.id));
