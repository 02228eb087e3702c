import { systemReason } from '../../base/aws/index.ts';
import { nearestName } from '../../base/index.ts';
import type { Ledger } from '../../jobs/index.ts';
import { StoredObjectError } from '../../store/index.ts';

/** The error for wrong usage: an argument, option or file that a command cannot use. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The name of the value that was given; undefined if none was. Throws `UsageError` if several were given, or if
 * none was and one is `needed`.
 */
export function oneGiven(values: Readonly<Record<string, unknown>>, need?: 'needed'): string | undefined {
  const all = Object.keys(values);
  const given = all.filter((name) => values[name] !== undefined);
  if (given.length === 1 || (given.length === 0 && need === undefined)) return given[0];
  throw new UsageError(`expected ${all.join(' or ')}, got ${given.join(' and ') || 'none'}`);
}

/** The error for a file that is not as expected. `got`: what it is instead, in words, or the system's error. */
export const fileError = (file: string, expected: string, got: unknown): UsageError =>
  new UsageError(`${fileNamed(file)}: expected ${expected}, got ${systemReason(got)}`, { cause: got });

const fileNamed = (file: string): string => (file === '-' ? 'standard input' : file || '""');

/**
 * Turns the error for a missing object into a `UsageError`, since the user chose the object with `option`. Returns any
 * other error unchanged, such as the error for a damaged object.
 */
export const asUsage = (option: string, error: unknown): unknown =>
  error instanceof StoredObjectError && error.kind === 'missing'
    ? new UsageError(`${option}: ${error.message}`, { cause: error })
    : error;

/** Waits for `work`. If it fails because an object is missing or damaged, appends `remedy` to the message. */
export async function withRemedy<T>(remedy: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    throw new StoredObjectError(error.kind, `${error.message}; ${remedy}`, { cause: error });
  }
}

/**
 * The error for a name that does not exist, which suggests the nearest of `names`. `named`: what has the name, such as
 * `job`. `where`: why it was not found, such as `not in the ledger`.
 */
export function unknownError(named: string, name: string, where: string, names: Iterable<string>): Error {
  const nearest = nearestName(name, names);
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return new Error(`${named} ${name}: ${where}${meant}`);
}

/** The error for a job that is not in the ledger; it suggests the nearest id. */
export const unknownJob = async (id: string, ledger: Pick<Ledger, 'list'>): Promise<Error> =>
  unknownError('job', id, 'not in the ledger', await Array.fromAsync(ledger.list(), (row) => row.id));
