import * as z from 'zod/mini';
import { anyRecord, uuid, yesOrNo } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import { type Endpoint, pathSegment } from '../endpoint.ts';
import { execution, type FunctionExecution } from '../records.ts';

const body = z.strictObject({
  inputVariables: z.optional(anyRecord('an object of input variables')),
  settings: z.optional(z.looseObject({ getLogs: z.optional(yesOrNo) })),
});

const input = z.strictObject({
  path: z.strictObject({ packageId: uuid, version: pathSegment, functionName: pathSegment }),
  body,
});

/** The function to run: its package (a UUID), version and name, with its `inputVariables` and `settings`. */
export type FunctionCall = z.input<typeof input>['path'] & z.input<typeof body>;

/**
 * How an execution ended. `failed`: the function ran and its effects remain. `unknown`: the platform could
 * not determine how it ended, it is still running, or its status is not in the platform's API.
 */
export function endOfExecution(status: unknown): 'done' | 'failed' | 'unknown' {
  const word = typeof status === 'string' ? status.trim().toUpperCase() : '';
  if (word === 'SUCCESS' || word === 'OUTPUT_UNDEFINED') return 'done';
  return word === 'FAILED' || word === 'RESULT_TYPE_FAILURE' ? 'failed' : 'unknown';
}

/**
 * The lines of an execution's log (`stdout` or `stderr`) or of its `errorInformation`, as strings, whatever their
 * shape.
 */
export function linesIn(given: unknown, name: 'log' | 'errorMessages'): readonly string[] {
  const found: unknown = typeof given === 'object' ? Object(given ?? {})[name] : given;
  const lines: readonly unknown[] = Array.isArray(found) ? found : [found ?? []].flat();
  return lines.map((line) => (typeof line === 'string' ? line : printJson(line)));
}

/**
 * Runs a packaged code function. There is no idempotency key, so it is never sent twice. A function may
 * run for 5 minutes, so it has its own time limit. HTTP 200 does not mean success: check `status`.
 */
export const runFunction: Endpoint<z.infer<typeof input>, FunctionExecution> = {
  name: 'runFunction',
  summary: 'Run a code function',
  method: 'POST',
  path: '/api/codeengine/v2/packages/{packageId}/versions/{version}/functions/{functionName}',
  input,
  output: () => z.looseObject({ status: z.string() }),
  records: { members: execution },
  isResult: ({ status }) => typeof status === 'string',
  mayRepeat: false,
  about: ({ path }) => `function ${path.functionName} ${path.version} of package ${path.packageId}`,
  timeoutMs: 330_000,
};
