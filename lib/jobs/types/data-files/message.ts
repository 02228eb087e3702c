import * as z from 'zod/mini';
import { idSchema } from '../../../platform/id.ts';
import { expandNames } from '../../../platform/operations/get-data-file.ts';
import { common, each } from '../../message/fields.ts';

const expectedNames = `a list of, or names separated by commas of, ${expandNames.join(' and ')}`;

/** A list of names, or the names separated by commas; goes out as a list. */
const expand = z.pipe(
  z.custom<string | readonly string[]>((value) => namesIn(value) !== undefined, { error: expectedNames }),
  z.transform((value): readonly (typeof expandNames)[number][] => namesIn(value) ?? []),
);

function namesIn(value: unknown): readonly (typeof expandNames)[number][] | undefined {
  const names: unknown = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  if (!Array.isArray(names) || !names.every((name) => expandNames.includes(name))) return undefined;
  return expandNames.filter((name) => names.includes(name));
}

export const dataFilesMessage = z.strictObject({
  ...common,
  type: z.literal('data-files'),
  ids: each(idSchema, { error: 'a list of data-file ids', most: 100 }),
  expand: z.optional(expand),
});
