/** The rules that read one record. They import nothing of the other rooms, so that every room may use them. */
export { canonicalId, idText, type Kind, kinds, type Thing, thing } from './thing.ts';
export {
  datasetsUsed,
  isBroken,
  isInvalid,
  type Relation,
  relations,
  type Statement,
  type StatingSource,
  statements,
  statingFields,
  type Use,
  usesOf,
  worse,
} from './uses.ts';
