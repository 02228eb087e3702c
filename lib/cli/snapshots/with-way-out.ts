import { type Place, partsOf } from '../../snapshot/keys.ts';
import { StoredObjectError } from '../../store/stored-json.ts';

/** `snapshot` for a place, as it is typed. */
export function snapshotCommand(place: Place): string {
  const { source, name } = partsOf(place);
  return `platform-sync snapshot ${source}${name === undefined ? '' : ` --as ${name}`}`;
}

/** Waits for `work`, and adds a way out, in words, to the error if something in the store is missing or damaged. */
export async function withWayOut<T>(wayOut: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    throw new StoredObjectError(error.kind, `${error.message}; ${wayOut}`, { cause: error });
  }
}
