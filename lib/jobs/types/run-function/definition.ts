import { runFunction as endpoint } from '../../../platform/operations/run-function.ts';
import { type AllowLists, notAllowed } from '../../allow-lists.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';
import {
  type RunFunctionInput,
  type RunFunctionJob,
  type RunFunctionMessage,
  runFunctionChecks,
} from './message.ts';

/** Runs a code function. */
export const runFunction: JobTypeDefinition<RunFunctionMessage, RunFunctionInput> = {
  checks: runFunctionChecks,
  mayRepeat: ({ onUnknown }) => onUnknown === 'retry',
  stopsWhenCancelled: false,
  mustLastMs: (timeoutMs) => endpoint.timeoutMs ?? timeoutMs,
  allowFault: functionFault,
  mostCalls: () => 1,
  openRunner: async ({ platform }) => (await import('./runner.ts')).functionRunner(platform.call),
  afterEnd: async () => undefined,
  beforeReopen: async () => undefined,
  sample: ({ packageId }) => ({
    version: 1,
    type: 'run-function',
    id: 'tour-days',
    packageId,
    packageVersion: '1.0.0',
    functionName: 'businessDays',
    inputVariables: { start: '2026-11-20', end: '2026-12-01', holidays: ['2026-11-26'] },
  }),
};

/** Why SYNC_ALLOW does not allow the function of a job, or undefined if it does. */
function functionFault(
  {
    packageId: id,
    packageVersion,
    functionName,
  }: Pick<RunFunctionJob, 'packageId' | 'packageVersion' | 'functionName'>,
  { packages, functions }: AllowLists,
): string | undefined {
  const packageId = id.toLowerCase();
  if (packages !== undefined && !packages.some((allowed) => allowed.toLowerCase() === packageId))
    return notAllowed('packageId', packages, id);
  const name = `${packageId}/${packageVersion}/${functionName}`;
  if (functions !== undefined && !functions.some((entry) => matches(entry, name, functionName)))
    return notAllowed('functionName', functions, name);
  return undefined;
}

const LENGTH_OF_UUID = 36;

/** Whether an entry names this function. Case matters except in the package's UUID. */
const matches = (entry: string, full: string, functionName: string) =>
  entry.includes('/')
    ? entry.slice(0, LENGTH_OF_UUID).toLowerCase() + entry.slice(LENGTH_OF_UUID) === full
    : entry === functionName;
