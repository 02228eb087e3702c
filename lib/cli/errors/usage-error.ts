import { systemReason } from '../../base/aws/index.ts';
import { nearestName } from '../../base/index.ts';
import type { Ledger } from '../../jobs/index.ts';
import { StoredObjectError } from '../../store/index.ts';

/** The error for wrong usage: an argument, option or file that a command cannot use. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The name of the only value that is given. Throws `UsageError` if several are given, or none although one is `needed`. */
export function oneGiven(values: Readonly<Record<string, unknown>>, need?: 'needed'): string | undefined {
  const all = Object.keys(values);
  const given = all.filter((name) => values[name] !== undefined);
  if (given.length === 1 || (given.length === 0 && need === undefined)) return given[0];
  throw new UsageError(`expected ${all.join(' or ')}, got ${given.join(' and ') || 'none'}`);
}

/** The error for a file that is not as expected. `got` is in words, or the system's error. */
export const fileError = (file: string, expected: string, got: unknown): UsageError =>
  new UsageError(`${fileNamed(file)}: expected ${expected}, got ${systemReason(got)}`, { cause: got });

const fileNamed = (file: string): string => (file === '-' ? 'standard input' : file || '""');

/**
 * Turns the error for a missing object into a `UsageError`, since `option` named it; returns any other error unchanged,
 * such as that of a damaged object.
 */
export const asUsage = (option: string, error: unknown): unknown =>
  error instanceof StoredObjectError && error.kind === 'missing'
    ? new UsageError(`${option}: ${error.message}`, { cause: error })
    : error;

/** Waits for `work`. If it fails because an object is missing or damaged, adds to the error how to fix it. */
export async function withWayOut<T>(wayOut: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    throw new StoredObjectError(error.kind, `${error.message}; ${wayOut}`, { cause: error });
  }
}

/** The error for a name that does not exist; it suggests the nearest of `names`. `where`: where it was searched. */
export function unknownError(named: string, name: string, where: string, names: Iterable<string>): Error {
  const nearest = nearestName(name, names);
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return new Error(`${named} ${name}: ${where}${meant}`);
}

/** The error for a job that is not in the ledger; it suggests the nearest id. */
export const unknownJob = async (id: string, ledger: Pick<Ledger, 'list'>): Promise<Error> =>
  unknownError('job', id, 'not in the ledger', await Array.fromAsync(ledger.list(), (row) => row.id));
