import { StoredObjectError } from '../store/index.ts';

/**
 * Reads what is published, and once more, from `latest.json` on, if something of it was missing or damaged: a run may be
 * pruned while it is read. What is missing the second time is missing. `faultsOf`: what a result says of that.
 */
export async function readAgain<T>(
  read: () => Promise<T>,
  faultsOf: (found: T) => readonly string[] = () => [],
): Promise<T> {
  try {
    const found = await read();
    if (faultsOf(found).length === 0) return found;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
  }
  return await read();
}
