import { runFunction as endpoint } from '../../../platform/operations/run-function.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';
import { functionFault } from './allowed.ts';
import { type RunFunctionInput, type RunFunctionMessage, runFunctionChecks } from './message.ts';

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
