import * as z from 'zod/mini';
import { commonFields, requestRules, requestSchemasWith } from '../../../snapshot/sources/request.ts';
import { isSource, type Source, sources } from '../../../snapshot/sources/sources.ts';
import { common, type FieldRule, isObject } from '../../message/fields.ts';

const fields = { ...common, type: z.literal('snapshot') } as const;

const schemas = requestSchemasWith(fields);

/** A snapshot whose source is not known: what can be checked all the same. */
const ofNoSource = z.looseObject({
  ...fields,
  ...commonFields,
  source: z.enum(sources, { error: `one of ${sources.join(', ')}` }),
});

/** A `snapshot` message as it was checked: a request with a version and an id. */
export type SnapshotMessage = { readonly [S in Source]: z.infer<(typeof schemas)[S]> }[Source];

/** The schema of a `snapshot` message: that of its source. */
export const snapshotMessage: z.ZodMiniType<SnapshotMessage> = z.pipe(
  z.unknown(),
  z.transform((message: unknown, { issues }): SnapshotMessage => {
    const source = isObject(message) ? message['source'] : undefined;
    if (isSource(source)) {
      const { error, data } = schemas[source].safeParse(message);
      if (error === undefined) return data;
      issues.push(...issuesOf(error));
    } else {
      issues.push(...issuesOf(ofNoSource.safeParse(message).error));
    }
    return z.NEVER;
  }),
);

const issuesOf = (error: z.core.$ZodError | undefined) =>
  (error?.issues ?? []).map((issue) => ({ ...issue, input: undefined }));

/** The rules on several fields of a `snapshot` message. */
export const snapshotRules: readonly FieldRule[] = requestRules.map(({ at, expected, holds }) => ({
  at,
  expected: expected((field) => field),
  holds,
}));
