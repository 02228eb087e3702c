import * as z from 'zod/mini';
import { checkedBy, each, faultsOf } from '../../../base/index.ts';
import { type Call, idSchema, PlatformError } from '../../../platform/index.ts';
import { expandNames, getDataFile } from '../../../platform/operations/index.ts';
import { common, type JobFrom } from '../../message/check-message.ts';
import type { RunJob } from '../../send-context.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';

const EXPECTED_NAMES = `names from ${expandNames.join(' and ')}, as a list or separated by commas`;

/** A list of names, or the names separated by commas. */
const expand = z.pipe(
  z.custom<string | readonly string[]>((value) => expandNamesIn(value) !== undefined, {
    error: EXPECTED_NAMES,
  }),
  z.transform((value): readonly (typeof expandNames)[number][] => expandNamesIn(value) ?? []),
);

function expandNamesIn(value: unknown): readonly (typeof expandNames)[number][] | undefined {
  const names: unknown = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  if (!Array.isArray(names) || !names.every((name) => expandNames.includes(name))) return undefined;
  return expandNames.filter((name) => names.includes(name));
}

const schema = z.strictObject({
  ...common,
  type: z.literal('data-files', { error: 'data-files' }),
  ids: each(idSchema, { error: 'a list of data-file ids', max: 100 }),
  expand: z.optional(expand),
});

/** Reads the metadata of up to 100 data files. A repeat does no harm. */
export const dataFiles: JobTypeDefinition<z.infer<typeof schema>, z.input<typeof schema>> = {
  schema,
  defaultId: 'content-hash',
  mayRepeat: () => true,
  sendsMany: true,
  maxCalls: ({ ids }) => ids.length,
  openRunner: async ({ platform }) => dataFilesRunner(platform.call),
  sample: ({ dataFileIds }) => ({
    version: 1,
    type: 'data-files',
    id: 'tour-files',
    ids: dataFileIds.slice(0, 2),
  }),
};

/**
 * Creates the runner. It reads the metadata of data files in parallel, and returns `{files, missing}`, each file as the
 * platform sent it. Ids with a 404 or 403 are missing, and do not fail the job. A response that is not the metadata of
 * the requested file fails the job, whose result still has all other files.
 */
function dataFilesRunner(call: Call): RunJob<JobFrom<z.infer<typeof schema>>> {
  return async ({ ids, expand = [] }, { beforeSend, onSend, priority, signal }) => {
    const query = expand.length === 0 ? {} : { expand: expand.join(',') };
    const stop = new AbortController();
    const options = { signal: AbortSignal.any([signal, stop.signal]), beforeSend, onSend, priority };
    const read = async (
      id: string,
    ): Promise<
      | { readonly file: string }
      | { readonly missing: { readonly id: string; readonly status: number } }
      | { readonly fault: string }
    > => {
      try {
        const { text, json } = await call.raw(getDataFile, { path: { dataFileId: id }, query }, options);
        const fault = faultOf(id, json);
        return fault === undefined ? { file: text.trim() } : { fault };
      } catch (error) {
        const status =
          error instanceof PlatformError && error.failure.kind === 'status' && error.failure.status;
        if (status === 404 || status === 403) return { missing: { id, status } };
        throw error;
      }
    };
    try {
      const all = await Promise.all(ids.map(read));
      const files = all.flatMap((each) => ('file' in each ? [each.file] : []));
      const missing = all.flatMap((each) => ('missing' in each ? [each.missing] : []));
      const response = `{"files":[${files.join(',')}],"missing":${JSON.stringify(missing)}}`;
      const [fault, ...others] = all.flatMap((each) => ('fault' in each ? [each.fault] : []));
      if (fault === undefined) return { status: 'done', response };
      const more = others.length === 0 ? '' : `, and ${others.length} more like it`;
      const message = `the response does not match the contract: ${fault}${more}`;
      return { status: 'failed', error: { kind: 'shape', message }, response };
    } finally {
      // After a failure the remaining calls are not needed.
      stop.abort();
    }
  };
}

/** Why a response is not the metadata of a data file; undefined if it is. */
function faultOf(id: string, json: unknown): string | undefined {
  const { error } = checkedBy(getDataFile.output({ path: { dataFileId: id } }), json);
  const describePath = (path: readonly PropertyKey[]) => [`data file ${id}`, ...path].join(': ');
  return error && faultsOf(error, json, { describePath }).join('; ');
}
