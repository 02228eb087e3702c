import {
  type CodeFunction,
  type CodePackage,
  one,
  orNull,
} from '../../../../lib/sandbox/platform/functions/code-package.ts';
import { codePackages } from '../../../../lib/sandbox/platform/functions/packages.ts';
import {
  createFunctionRunner,
  type RunFunction,
} from '../../../../lib/sandbox/platform/functions/run-function.ts';

type FunctionRequest = Parameters<RunFunction>[0];
type FunctionRun = Awaited<ReturnType<RunFunction>>;
type FunctionExecution = Extract<FunctionRun, { kind: 'executed' }>['execution'];

type FunctionRunnerOptions = Parameters<typeof createFunctionRunner>[0];

/** Limits that a test reaches quickly, a fixed clock, and a fixed id. */
export const quickOptions = {
  timeLimitMs: 2_000,
  memoryLimitBytes: 32 * 1024 * 1024,
  now: () => Date.UTC(2026, 10, 21, 9, 15),
  newId: () => 'execution-1',
  monotonicMs: () => performance.now(),
  formulas: () => [],
} as const satisfies FunctionRunnerOptions;

/** A request for one of the runtime trials. */
export function trial(functionName: string, more: Partial<FunctionRequest> = {}): FunctionRequest {
  return { packageId: codePackages[1]?.id ?? '', version: '1.0.0', functionName, startedBy: '27', ...more };
}

/** The execution of a run; fails the test if there was none. */
export function executionOf(run: FunctionRun): FunctionExecution {
  if (run.kind !== 'executed') throw new Error(`expected an execution, got ${run.kind}: ${run.message}`);
  return run.execution;
}

/** Runs one function with the given source, without inputs, with logs. */
export async function runSource(
  source: string,
  more: Partial<CodeFunction> = {},
): Promise<FunctionExecution> {
  const definition: CodeFunction = {
    name: 'tested',
    inputs: [],
    output: orNull(one('object')),
    source,
    ...more,
  };
  const version = { version: '1.0.0', released: true, functions: [definition] };
  const packages: CodePackage[] = [{ id: 'tested', name: 'Tested', versions: [version] }];
  const run = createFunctionRunner({ ...quickOptions, packages });
  const address = { packageId: 'tested', version: '1.0.0', functionName: 'tested' };
  return executionOf(await run({ ...address, startedBy: '27', settings: { getLogs: true } }));
}
