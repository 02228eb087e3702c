import { StoredObjectError } from '../store/index.ts';

/** Reads what is published, and once more if something was missing or damaged: a run may be pruned while it is read. */
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
