import { StoredObjectError } from '../../store/index.ts';

/** Waits for `work`, and adds a way out, in words, to the error if something in the store is missing or damaged. */
export async function withWayOut<T>(wayOut: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    throw new StoredObjectError(error.kind, `${error.message}; ${wayOut}`, { cause: error });
  }
}
