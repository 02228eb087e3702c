import * as z from 'zod/mini';
import { jsonSetting } from '../locations.ts';
import { allowLists, notAllowed } from './allow-lists.ts';
import { definitionOf, type Job, jobType } from './types/job-types.ts';

const allowSchema = z.strictObject(
  {
    types: z.optional(z.array(jobType, { error: 'a list of job types' })),
    ...allowLists,
  },
  { error: 'an object with types, packages and functions' },
);

/**
 * What jobs may use: `{"types": […], "packages": […], "functions": […]}`, each of them optional.
 *
 * A missing list allows everything, an empty one nothing. A job must be allowed by every list:
 * - `types`: job types, such as `score`.
 * - `packages`: UUIDs of the packages whose functions `run-function` may run.
 * - `functions`: the functions that it may run: `PACKAGE/VERSION/FUNCTION` for one released function,
 *   `FUNCTION` for every function of that name, in any package and version that the other lists allow.
 */
export type Allow = z.infer<typeof allowSchema>;

/** Reads the setting SYNC_ALLOW. Without a value, everything is allowed. Throws `SettingsError` with every fault. */
export const readAllow = (text: string | undefined): Allow =>
  text === undefined ? {} : jsonSetting('SYNC_ALLOW', text, allowSchema);

/** Why SYNC_ALLOW does not allow a job; undefined if it does. */
export const allowFault = ({ types, ...lists }: Allow, job: Job): string | undefined =>
  types === undefined || types.includes(job.type)
    ? definitionOf(job).allowFault?.(job, lists)
    : notAllowed('type', types, job.type);
