import * as z from 'zod/mini';
import { checkedBy } from '../../../base/index.ts';
import {
  commonFields,
  isSource,
  requestRules,
  requestSchemasWith,
  type Source,
  sources,
} from '../../../snapshot/sources/index.ts';
import { common, isObject, type JobFrom, type MessageChecks } from '../../message/check-message.ts';

const fields = { ...common, type: z.literal('snapshot', { error: 'snapshot' }) } as const;

const schemas = requestSchemasWith(fields);

const unknownSource = z.looseObject({
  ...fields,
  ...commonFields,
  source: z.enum(sources, { error: `one of ${sources.join(', ')}` }),
});

/** The message of a `snapshot` job, of any source. */
export type SnapshotMessage = { readonly [S in Source]: z.infer<(typeof schemas)[S]> }[Source];
/** A `snapshot` job. */
export type SnapshotJob = JobFrom<SnapshotMessage>;

const snapshotMessage: z.ZodMiniType<SnapshotMessage> = z.pipe(
  z.unknown(),
  z.transform((message: unknown, { issues }): SnapshotMessage => {
    const source = isObject(message) ? message['source'] : undefined;
    if (isSource(source)) {
      const schema: z.ZodMiniType<SnapshotMessage> = schemas[source];
      const { error, data } = checkedBy(schema, message);
      if (error === undefined) return data;
      issues.push(...issuesOf(error));
    } else {
      issues.push(...issuesOf(checkedBy(unknownSource, message).error));
    }
    return z.NEVER;
  }),
);

const issuesOf = (error: z.core.$ZodError | undefined) =>
  (error?.issues ?? []).map((issue) => ({ ...issue, input: undefined }));

/** The checks of a `snapshot` message. */
export const snapshotChecks: MessageChecks<SnapshotMessage> = {
  schema: snapshotMessage,
  rules: requestRules,
  defaultId: 'content-hash',
};
