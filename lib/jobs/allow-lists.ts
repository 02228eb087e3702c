import * as z from 'zod/mini';
import { shortened, uuid } from '../base/index.ts';

/**
 * Matches `PACKAGE/VERSION/FUNCTION`. Versions and names have no slashes, in messages too, so it identifies exactly one
 * function.
 */
const FULL_NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[^/]+\/[^/]+$/i;

const functionEntry = z.string({ error: 'text' }).check(
  z.refine((entry) => FULL_NAME.test(entry) || /^[^/\s]+$/.test(entry), {
    error: 'PACKAGE/VERSION/FUNCTION with the package’s UUID, or FUNCTION',
  }),
);

/** The lists in SYNC_ALLOW of what jobs may use on the platform. A missing list allows everything. */
export const allowLists = {
  packages: z.optional(z.array(uuid, { error: 'a list of package UUIDs' })),
  functions: z.optional(z.array(functionEntry, { error: 'a list of functions' })),
} as const;

/** The values of these lists. */
export type AllowLists = { readonly [List in keyof typeof allowLists]?: z.infer<(typeof allowLists)[List]> };

/** Why a value is not allowed: `packageId: expected one that SYNC_ALLOW allows (…), got "…"`. */
export const notAllowed = (field: string, allowed: readonly string[], got: string): string =>
  `${field}: expected one that SYNC_ALLOW allows (${shortened(allowed.join(', '), MAX_LIST_LENGTH) || 'none'}), got ${JSON.stringify(shortened(got, MAX_GOT_LENGTH))}`;

/** Maximum characters of the list, and of the value, that a fault quotes. */
const MAX_LIST_LENGTH = 2_000;
const MAX_GOT_LENGTH = 200;
