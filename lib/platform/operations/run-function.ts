import * as z from 'zod/mini';
import { anyRecord, pathSegment, uuid } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { executionSchema, type FunctionExecution } from '../records.ts';

const body = z.strictObject({
  inputVariables: z.optional(anyRecord('an object of input variables')),
  settings: z.optional(z.looseObject({ getLogs: z.optional(z.boolean({ error: 'true or false' })) })),
});

const input = z.strictObject({
  path: z.strictObject({ packageId: uuid, version: pathSegment, functionName: pathSegment }),
  body,
});

/** Which function is called, by its package (a UUID), version and name, and with which variables. */
export type FunctionCall = z.input<typeof input>['path'] & z.input<typeof body>;

/**
 * Runs a packaged code function (contract 4.5). There is no idempotency key, so it is never sent twice. A function
 * may run for 5 minutes: hence its own time limit. HTTP 200 does not mean success: look at `status`.
 */
export const runFunction: Endpoint<z.infer<typeof input>, FunctionExecution> = {
  name: 'runFunction',
  summary: 'Run a code function',
  method: 'POST',
  path: '/api/codeengine/v2/packages/{packageId}/versions/{version}/functions/{functionName}',
  input,
  output: executionSchema,
  mayRepeat: false,
  about: ({ path }) => `function ${path.functionName} ${path.version} of package ${path.packageId}`,
  timeoutMs: 330_000,
};
