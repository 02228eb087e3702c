import { assumptions } from '../assumptions.ts';
import type { JsonSchema } from './json-schema.ts';

/*
 * What the contract says about an input but the client's schemas cannot express: bounds that a function checks, and
 * members for which the client has its own default.
 */

/** By operation and name, merged into the schema of a query parameter or of a member of the body. */
export const knownLimits: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  searchCalculations: {
    limit: { type: 'integer', minimum: 1, maximum: 5000 },
    offset: { type: 'integer', minimum: 0 },
  },
  searchFiles: {
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: assumptions.maxFileLimit,
      default: assumptions.defaultFileLimit,
    },
    immediateChildren: { default: false },
  },
  listCards: { drill: { default: true } },
};

/** Body members that the contract requires, by operation. */
export const knownRequired: Readonly<Record<string, readonly string[]>> = {
  searchCalculations: ['filters', 'sort', 'limit'],
};
