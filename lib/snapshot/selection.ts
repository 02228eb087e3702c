import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Source } from './keys.ts';

/*
 * What a snapshot asks for: the part of it that the manifest tells and the gates compare. Two runs are comparable only
 * if their selections are equal.
 */

const strings = z.array(z.string());

/** Ids that were given: themselves while they are few, else their number and the sha256 of their lines. */
const givenIds = z.union([strings, z.object({ count: z.number(), sha256: z.string() })]);

export const selectionSchemas = {
  calculations: z.strictObject({ name: z.optional(z.string()), filters: z.optional(strings) }),
  files: z.strictObject({
    filesets: strings,
    directory: z.optional(z.string()),
    immediate: z.optional(z.boolean()),
    where: z.optional(
      z.array(
        z.strictObject({
          field: z.string(),
          operator: z.string(),
          value: strings,
          not: z.optional(z.boolean()),
        }),
      ),
    ),
    since: z.optional(z.string()),
    until: z.optional(z.string()),
  }),
  /** `calculations`: the datasets that the last published calculations snapshot links to. */
  cards: z.strictObject({ datasets: z.union([z.literal('calculations'), givenIds]), drill: z.boolean() }),
  'data-files': z.strictObject({ ids: givenIds, expand: strings }),
} as const satisfies Record<Source, unknown>;

export type Selections = { readonly [S in Source]: z.infer<(typeof selectionSchemas)[S]> };

/** Ids that a manifest lists in full. */
const MOST_LISTED = 1_000;

/** How a selection tells given ids: each once and in the order of their text, so that the same ids are told the same. */
export function toldIds(ids: readonly string[]): z.infer<typeof givenIds> {
  const told = [...new Set(ids)].sort();
  if (told.length <= MOST_LISTED) return told;
  return { count: told.length, sha256: createHash('sha256').update(told.join('\n')).digest('hex') };
}
