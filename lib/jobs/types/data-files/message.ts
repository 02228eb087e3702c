import * as z from 'zod/mini';
import { idSchema } from '../../../platform/index.ts';
import { expandNames } from '../../../platform/operations/get-data-file.ts';
import type { MessageChecks } from '../../message/check-message.ts';
import { common, each } from '../../message/fields.ts';
import type { JobBy } from '../../message/read-job.ts';

const EXPECTED_NAMES = `names from ${expandNames.join(' and ')}, as a list or separated by commas`;

/** A list of names, or the names separated by commas; parsed to a list. */
const expand = z.pipe(
  z.custom<string | readonly string[]>((value) => namesIn(value) !== undefined, { error: EXPECTED_NAMES }),
  z.transform((value): readonly (typeof expandNames)[number][] => namesIn(value) ?? []),
);

function namesIn(value: unknown): readonly (typeof expandNames)[number][] | undefined {
  const names: unknown = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  if (!Array.isArray(names) || !names.every((name) => expandNames.includes(name))) return undefined;
  return expandNames.filter((name) => names.includes(name));
}

const dataFilesMessage = z.strictObject({
  ...common,
  type: z.literal('data-files', { error: 'data-files' }),
  ids: each(idSchema, { error: 'a list of data-file ids', most: 100 }),
  expand: z.optional(expand),
});

export type DataFilesMessage = z.infer<typeof dataFilesMessage>;
export type DataFilesInput = z.input<typeof dataFilesMessage>;
export type DataFilesJob = JobBy<DataFilesMessage>;

/** What the message of a `data-files` job is checked by. */
export const dataFilesChecks: MessageChecks<DataFilesMessage, DataFilesInput> = {
  schema: dataFilesMessage,
  rules: [],
  defaultId: 'content-hash',
};
