/* Objects in S3 or a directory, one interface. What opens either is loaded by `openStore`. */

export { makeFolder } from './directory-writer.ts';
export { errorCode, StoreError, type StoreFailure } from './error.ts';
export { compareKeys, idOfSegment, isKey, keySegment, RESERVED_FOLDER } from './key.ts';
export { checkStoreExists, examineStore, keyInStore, openStore, parseLocation } from './open.ts';
export { createReserve, isFullDisk, type Reserve } from './reserve.ts';
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
  type StoredJson,
  StoredObjectError,
  unlessDamaged,
} from './stored-json.ts';
export { storeUntil } from './until.ts';
export { asRead, updateObject } from './update-object.ts';
