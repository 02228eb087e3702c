import * as z from 'zod/mini';
import { faultsOf } from '../json/faults.ts';
import { parseJson } from '../json/json.ts';
import { allowLists, notAllowed } from './allow-lists.ts';
import { type Job, jobType, listFault } from './types/job-types.ts';

const allowSchema = z.strictObject(
  {
    types: z.optional(z.array(jobType, { error: 'a list of job types' })),
    ...allowLists,
  },
  { error: 'an object of types, packages and functions' },
);

/**
 * What jobs may use: `{"types": […], "packages": […], "functions": […]}`, each of them optional.
 *
 * A list that is absent allows all; an empty one allows nothing. All lists must allow a job:
 * - `types`: job types, such as `score`.
 * - `packages`: UUIDs of the packages whose functions `run-function` may run.
 * - `functions`: functions that it may run: `PACKAGE/VERSION/FUNCTION` for one released function, `FUNCTION` for every
 *   function of that name, in whatever package and version the other lists leave.
 */
export type Allow = z.infer<typeof allowSchema>;

/** The setting is wrong; every fault is listed. */
export class AllowError extends Error {
  override readonly name = 'AllowError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`what jobs may use: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

/** Reads the setting SYNC_ALLOW; without a value all is allowed. Throws `AllowError` with every fault at once. */
export function readAllow(text: string | undefined): Allow {
  if (text === undefined || text === '') return {};
  const parsed = allowSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new AllowError(
    faultsOf(parsed.error, jsonOf(text), { place: (path) => ['SYNC_ALLOW', ...path].join('.') }),
  );
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new AllowError([`SYNC_ALLOW: expected JSON, got ${text.length} characters that are none`]);
  }
}

/** Why a job is not allowed, or undefined if it is. */
export const allowFault = ({ types, ...lists }: Allow, job: Job): string | undefined =>
  types === undefined || types.includes(job.type)
    ? listFault(job, lists)
    : notAllowed('type', types, job.type);
