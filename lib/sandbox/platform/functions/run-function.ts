import { assumptions } from '../assumptions.ts';
import {
  actualTypeOf,
  type CodeFunction,
  type CodePackage,
  type DeclaredType,
  formatActualType,
  formatDeclaredType,
  matchesType,
} from './code-package.ts';
import { type CapturedLog, createInterpreter } from './interpreter.ts';
import { codePackages } from './packages.ts';

/** Which function to run. The package's id may be in upper or lower case. */
type FunctionAddress = {
  readonly packageId: string;
  readonly version: string;
  readonly functionName: string;
};

/** A call of a function. `getLogs` is false by default; `startedBy` is the id of the calling user. */
type FunctionRequest = FunctionAddress & {
  readonly inputVariables?: Readonly<Record<string, unknown>> | undefined;
  readonly settings?: { readonly getLogs?: boolean | undefined } | undefined;
  readonly startedBy: string;
};

/**
 * How a request ended: `not-found` becomes 404, `bad-input` 400, and `executed` 200, whatever the status of
 * the execution.
 */
type FunctionRun =
  | { readonly kind: 'not-found'; readonly message: string }
  | { readonly kind: 'bad-input'; readonly message: string }
  | { readonly kind: 'executed'; readonly execution: ReturnType<typeof executionRecord> };

/** Runs a function to its end; never throws because of what the function does. */
export type RunFunction = (request: FunctionRequest) => Promise<FunctionRun>;

type FunctionLookup =
  | { readonly kind: 'found'; readonly packageId: string; readonly definition: CodeFunction }
  | { readonly kind: 'not-found'; readonly message: string };

/** Finds a function that can be run. An unreleased version is not found, as on the platform. */
function findFunction(packages: readonly CodePackage[], address: FunctionAddress): FunctionLookup {
  const { packageId, version, functionName } = address;
  const codePackage = packages.find(({ id }) => id === packageId.toLowerCase());
  if (!codePackage) return notFound(`No code package ${packageId}`);

  const release = codePackage.versions.find((candidate) => candidate.version === version);
  if (!release) return notFound(`Code package ${codePackage.id} has no version ${version}`);
  if (!release.released)
    return notFound(`Version ${version} of code package ${codePackage.id} is not released`);

  const definition = release.functions.find(({ name }) => name === functionName);
  if (!definition)
    return notFound(`Version ${version} of code package ${codePackage.id} has no function ${functionName}`);
  return { kind: 'found', packageId: codePackage.id, definition };
}

function notFound(message: string): FunctionLookup {
  return { kind: 'not-found', message };
}

function createCapturedLog(): CapturedLog {
  const streams = { stdout: createStream(), stderr: createStream() };
  return {
    write: (stream, json) => streams[stream].write(json),
    entries: (stream) => streams[stream].entries,
  };
}

function createStream() {
  const entries: unknown[] = [];
  let characters = 0;
  let cut = false;

  const write = (json: string) => {
    if (cut) return 'full';
    characters += json.length;
    cut = entries.length >= assumptions.maxLogEntries || characters > assumptions.maxLogCharacters;
    entries.push(cut ? assumptions.logCutMark : JSON.parse(json));
    return cut ? 'full' : 'open';
  };
  return { entries, write };
}

/** Creates a runner of packaged code functions. */
export function createFunctionRunner(options: {
  /** Maximum milliseconds of a call, during which the process is blocked. */
  readonly timeLimitMs: number;
  /** Maximum bytes for one call, including the interpreter itself (about 8 MiB). */
  readonly memoryLimitBytes: number;
  readonly now: () => number;
  readonly newId: () => string;
  readonly monotonicMs: () => number;
  /** Default: the packages of the sandbox. */
  readonly packages?: readonly CodePackage[];
  /** Returns all formulas: `{id, name, expression, datasetId}`. */
  readonly formulas: () => readonly object[];
}): RunFunction {
  const { now, newId, packages = codePackages, formulas } = options;
  const interpret = createInterpreter(options);

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
    const { source, reads } = definition;
    const values = reads === undefined ? bound.values : [...bound.values, formulas()];
    const outcome = await interpret({ source, values, write: log.write });
    const verdict = judgeOutcome(outcome, definition.output);
    const times = { executionId: newId(), startedOn, completedOn: isoTime(now()) };
    return { kind: 'executed', execution: executionRecord({ ...request, packageId }, times, verdict, log) };
  };
}

/** The record of one execution of a function, as the platform returns it. Dates are ISO 8601, in UTC. */
function executionRecord(
  request: FunctionRequest,
  times: Readonly<Record<'executionId' | 'startedOn' | 'completedOn', string>>,
  verdict: Verdict,
  log: CapturedLog,
) {
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

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * Converts inputs to arguments. A nullable input that is left out becomes null. Faults mention variables
 * and types, never values.
 */
function bindInputs(
  inputs: readonly CodeFunction['inputs'][number][],
  variables: Readonly<Record<string, unknown>>,
):
  | { readonly kind: 'bound'; readonly values: readonly unknown[] }
  | { readonly kind: 'faulty'; readonly faults: readonly string[] } {
  const values = new Map(Object.entries(variables));
  const unknownNames = [...values.keys()].filter((name) => !inputs.some((input) => input.name === name));
  const faults = [
    ...inputs.flatMap((input) => faultOf(input, values)),
    ...unknownNames.map((name) => `${name}: not an input of this function`),
  ];
  if (faults.length > 0) return { kind: 'faulty', faults };
  return { kind: 'bound', values: inputs.map(({ name }) => values.get(name) ?? null) };
}

function faultOf(input: CodeFunction['inputs'][number], values: ReadonlyMap<string, unknown>): string[] {
  const value = values.get(input.name) ?? null;
  if (matchesType(value, input)) return [];
  const got = values.has(input.name) ? formatActualType(actualTypeOf(value)) : 'nothing';
  return [`${input.name}: expected ${formatDeclaredType(input)}, got ${got}`];
}

/** The status and the result of an execution. */
type Verdict = {
  /** The sandbox responds only after a function has finished, so never with RUNNING. */
  readonly status: 'SUCCESS' | 'FAILED' | 'RESULT_TYPE_FAILURE' | 'OUTPUT_UNDEFINED';
  readonly result: unknown;
  readonly errorInformation?: {
    readonly errorMessages: readonly string[];
    readonly result?: unknown;
    readonly expectedType?: string;
    readonly actualType?: string;
    readonly expectedIsList?: boolean;
    readonly actualIsList?: boolean;
    readonly expectedAllowNull?: boolean;
  };
};

function judgeOutcome(
  outcome: Awaited<ReturnType<ReturnType<typeof createInterpreter>>>,
  output: DeclaredType,
): Verdict {
  switch (outcome.kind) {
    case 'value':
      return judgeValue(outcome.value, output);
    case 'undefined':
      return { status: 'OUTPUT_UNDEFINED', result: null };
    case 'thrown':
      return failed(outcome.message);
    case 'unsettled':
      return failed('The function returned a promise that never settles');
    case 'time-limit':
      return failed(`The function exceeded the time limit of ${outcome.timeLimitMs} ms`);
    case 'memory-limit':
      return failed(`The function exceeded the memory limit of ${outcome.memoryLimitBytes} bytes`);
    case 'broken':
      return failed(`The interpreter failed: ${outcome.message}`);
    default:
      return outcome satisfies never;
  }
}

function failed(message: string): Verdict {
  return { status: 'FAILED', result: null, errorInformation: { errorMessages: [message] } };
}

function judgeValue(value: unknown, output: DeclaredType): Verdict {
  if (matchesType(value, output)) return { status: 'SUCCESS', result: value };
  const actual = actualTypeOf(value);
  const message = `Expected ${formatDeclaredType(output)}, got ${formatActualType(actual)}`;
  return {
    status: 'RESULT_TYPE_FAILURE',
    result: null,
    errorInformation: {
      result: value,
      expectedType: output.type,
      actualType: actual.type,
      expectedIsList: output.isList,
      actualIsList: actual.isList,
      expectedAllowNull: output.nullable,
      errorMessages: [message],
    },
  };
}
