import { StoreError } from '../../store/error.ts';
import { StoredObjectError } from '../../store/stored-json.ts';

/** What of a store's failures lies with the object, or its name, and not with the store. */
const OF_THE_OBJECT: readonly string[] = ['bad-key', 'key-conflict', 'too-large'];

/** What is wrong with an object that is missing or damaged, in words. Throws any other error. */
export function damageIn(error: unknown): string {
  if (error instanceof StoredObjectError) return error.message;
  if (error instanceof StoreError && OF_THE_OBJECT.includes(error.failure.kind)) return error.message;
  throw error;
}
