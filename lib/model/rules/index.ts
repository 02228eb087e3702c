/** The rules that read one record. They import nothing of the other rooms, so that every room may use them. */
export {
  CANONICAL_DIGITS,
  canonicalId,
  type Kind,
  kinds,
  namedCard,
  type Thing,
  thing,
  thingKey,
} from './thing.ts';
export {
  datasetsUsed,
  eachUse,
  isBroken,
  isInvalid,
  type Relation,
  relations,
  type Statement,
  type StatingSource,
  statements,
  statingFields,
  type Use,
} from './uses.ts';
