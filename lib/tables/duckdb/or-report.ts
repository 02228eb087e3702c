import { StoredObjectError } from '../../store/stored-json.ts';
import type { Session } from './session.ts';

/** Waits for something in the store; reports it, and returns undefined, if it is missing or damaged. */
export async function orReport<T>(
  { report }: Pick<Session, 'report'>,
  found: Promise<T>,
): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    report(error.message);
    return undefined;
  }
}
