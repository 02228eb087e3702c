/*
 * Objects in S3 or a directory behind one interface. `openStore` loads only the modules of the kind that is used.
 */

export { makeFolder } from './directory-writer.ts';
export { errorCode, StoreError, type StoreFailure } from './error.ts';
export { compareKeys, idOfSegment, isKey, keySegment } from './key.ts';
export { checkStoreExists, examineStore, keyInStore, linkToObject, openStore } from './open.ts';
export { createReserve, isFullDisk } from './reserve.ts';
export type { ListedObject, OldVersion, PutCondition, Store, StoredObject } from './store.ts';
export {
  findStored,
  getBounded,
  MAX_LIST_BYTES,
  missingObject,
  parseStored,
  printBounded,
  printStored,
  printStoredLine,
  readStored,
  StoredObjectError,
  unlessDamaged,
} from './stored-json.ts';
export { ifUnchanged, storeUntil, updateObject } from './update-object.ts';
