import { assumed } from './assumed.ts';
import { type CapturedLog, createCapturedLog } from './captured-log.ts';
import { type CodePackage, type FunctionAddress, type FunctionInput, findFunction } from './code-package.ts';
import { type FunctionExecution, judgeOutcome, type Verdict } from './execution.ts';
import { createInterpreter } from './interpreter.ts';
import { codePackages } from './packages.ts';
import { actualTypeOf, formatActualType, formatDeclaredType, matchesType } from './types.ts';

/** A call of a function; `getLogs` is false by default, `startedBy` is the id of the calling user. */
export type FunctionRequest = FunctionAddress & {
  readonly inputVariables?: Readonly<Record<string, unknown>> | undefined;
  readonly settings?: { readonly getLogs?: boolean | undefined } | undefined;
  readonly startedBy: string;
};

/** `not-found` becomes 404, `bad-input` 400, and `executed` 200, whatever the status of the execution. */
export type FunctionRun =
  | { readonly kind: 'not-found'; readonly message: string }
  | { readonly kind: 'bad-input'; readonly message: string }
  | { readonly kind: 'executed'; readonly execution: FunctionExecution };

/** Runs a function to its end; never throws because of what the function does. */
export type RunFunction = (request: FunctionRequest) => Promise<FunctionRun>;

export type FunctionRunnerOptions = {
  /** Milliseconds that one call may take. Default 300,000, as on the platform. Meanwhile the process is blocked. */
  readonly timeLimitMs?: number;
  /** Bytes for one call, including the interpreter itself (about 8 MiB): 16 MiB to 2 GiB. Default 256 MiB. */
  readonly memoryLimitBytes?: number;
  readonly now: () => number;
  readonly newId: () => string;
  readonly monotonicMs?: () => number;
  readonly packages?: readonly CodePackage[];
};

/** A runner for packaged code functions. Throws a RangeError for limits out of range. */
export function createFunctionRunner(options: FunctionRunnerOptions): RunFunction {
  const { now, newId, packages = codePackages, monotonicMs = () => performance.now() } = options;
  const timeLimitMs = within('timeLimitMs', options.timeLimitMs ?? 300_000, 1, 300_000);
  const memoryLimitBytes = within(
    'memoryLimitBytes',
    options.memoryLimitBytes ?? assumed.memoryLimitBytes,
    assumed.lowestMemoryLimitBytes,
    2 ** 31,
  );
  const interpret = createInterpreter({ timeLimitMs, memoryLimitBytes, monotonicMs });

  return async (request) => {
    const lookup = findFunction(packages, request);
    if (lookup.kind === 'not-found') return lookup;
    const { packageId, definition } = lookup;
    const bound = bindInputs(definition.inputs, request.inputVariables ?? {});
    if (bound.kind === 'faulty') {
      return {
        kind: 'bad-input',
        message: `inputVariables of ${definition.name}: ${bound.faults.join('; ')}`,
      };
    }

    const startedOn = isoTime(now());
    const log = createCapturedLog();
    const outcome = await interpret({ source: definition.source, values: bound.values, write: log.write });
    const verdict = judgeOutcome(outcome, definition.output);
    const times = { executionId: newId(), startedOn, completedOn: isoTime(now()) };
    return { kind: 'executed', execution: recordOf({ ...request, packageId }, times, verdict, log) };
  };
}

type Times = Pick<FunctionExecution, 'executionId' | 'startedOn' | 'completedOn'>;

function recordOf(
  request: FunctionRequest,
  times: Times,
  verdict: Verdict,
  log: CapturedLog,
): FunctionExecution {
  const getLogs = request.settings?.getLogs === true;
  const messages = verdict.status === 'FAILED' ? (verdict.errorInformation?.errorMessages ?? []) : [];
  return {
    executionId: times.executionId,
    packageId: request.packageId,
    version: request.version,
    functionName: request.functionName,
    status: verdict.status,
    settings: { getLogs },
    startedOn: times.startedOn,
    startedBy: request.startedBy,
    completedOn: times.completedOn,
    result: verdict.result,
    stdout: { log: getLogs ? log.entries('stdout') : [] },
    stderr: { log: getLogs ? [...log.entries('stderr'), ...messages] : [] },
    ...(verdict.errorInformation && { errorInformation: verdict.errorInformation }),
  };
}

function within(name: string, value: number, lowest: number, highest: number): number {
  if (value >= lowest && value <= highest) return value;
  throw new RangeError(`${name}: expected ${lowest} to ${highest}, got ${value}`);
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

type BoundInputs =
  | { readonly kind: 'bound'; readonly values: readonly unknown[] }
  | { readonly kind: 'faulty'; readonly faults: readonly string[] };

/** A nullable input that is left out is null. Faults name variables and types, never values. */
function bindInputs(
  inputs: readonly FunctionInput[],
  variables: Readonly<Record<string, unknown>>,
): BoundInputs {
  const given = new Map(Object.entries(variables));
  const unknownNames = [...given.keys()].filter((name) => !inputs.some((input) => input.name === name));
  const faults = [
    ...inputs.flatMap((input) => faultOf(input, given)),
    ...unknownNames.map((name) => `${name}: not an input of this function`),
  ];
  if (faults.length > 0) return { kind: 'faulty', faults };
  return { kind: 'bound', values: inputs.map(({ name }) => given.get(name) ?? null) };
}

function faultOf(input: FunctionInput, given: ReadonlyMap<string, unknown>): string[] {
  const value = given.get(input.name) ?? null;
  if (matchesType(value, input)) return [];
  const got = given.has(input.name) ? formatActualType(actualTypeOf(value)) : 'nothing';
  return [`${input.name}: expected ${formatDeclaredType(input)}, got ${got}`];
}
