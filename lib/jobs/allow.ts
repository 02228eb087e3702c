import * as z from 'zod/mini';
import { faultsOf } from '../json/faults.ts';
import { uuid } from '../json/inputs.ts';
import { parseJson } from '../json/json.ts';
import { jobType } from './message/fields.ts';
import type { Job } from './types/message-schemas.ts';

/** `PACKAGE/VERSION/FUNCTION`: the version is the text up to the next slash, the name all that follows. */
const FULL_NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[^/]+\/.+$/i;

const functionEntry = z.string({ error: 'text' }).check(
  z.refine((entry) => FULL_NAME.test(entry) || /^[^/\s]+$/.test(entry), {
    error: 'PACKAGE/VERSION/FUNCTION with the package’s UUID, or FUNCTION',
  }),
);

const allowSchema = z.strictObject(
  {
    types: z.optional(z.array(jobType, { error: 'a list of job types' })),
    packages: z.optional(z.array(uuid, { error: 'a list of package UUIDs' })),
    functions: z.optional(z.array(functionEntry, { error: 'a list of functions' })),
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
export function allowFault({ types, packages, functions }: Allow, job: Job): string | undefined {
  if (types !== undefined && !types.includes(job.type))
    return `type: expected one that is allowed (${listed(types)}), got ${JSON.stringify(job.type)}`;
  if (job.type !== 'run-function') return undefined;
  const packageId = job.packageId.toLowerCase();
  if (packages !== undefined && !packages.some((allowed) => allowed.toLowerCase() === packageId))
    return `packageId: expected one that is allowed (${listed(packages)}), got ${JSON.stringify(job.packageId)}`;
  const name = `${packageId}/${job.packageVersion}/${job.functionName}`;
  if (functions !== undefined && !functions.some((entry) => names(entry, name, job.functionName)))
    return `functionName: expected one that is allowed (${listed(functions)}), got ${JSON.stringify(name)}`;
  return undefined;
}

const LENGTH_OF_UUID = 36;

/** Whether an entry means this function. Letter case matters in all but the package's UUID. */
const names = (entry: string, full: string, functionName: string) =>
  entry.includes('/')
    ? entry.slice(0, LENGTH_OF_UUID).toLowerCase() + entry.slice(LENGTH_OF_UUID) === full
    : entry === functionName;

const listed = (allowed: readonly string[]) => (allowed.length === 0 ? 'none is' : allowed.join(', '));
