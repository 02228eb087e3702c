import { basename, extname, resolve } from 'node:path';
import type { Environment } from '../../../lib/settings.ts';
import { REGION } from '../identity.ts';
import { createExecutionEnvironment, type LambdaFunction } from './execution-environment.ts';
import { HandlerError } from './invocation.ts';
import { type Sometimes, sometimes } from './lambda-rules.ts';

export type HandlerProcessOptions = {
  /** The path of a .ts or .mjs file that exports `handler`; it is never loaded into this process. */
  readonly file: string;
  /** The whole environment of the process, apart from what Lambda sets itself, and TMPDIR. */
  readonly environment: Environment;
  /** The time limit of one invocation, after which the process is killed. 1 to 900,000. */
  readonly timeoutMs: number;
  /** 1,024 if absent; nine tenths of it are for long-lived objects. */
  readonly memoryMb?: number;
  /** The file's name without its extension, if absent. */
  readonly functionName?: string;
  /** Called with every line that the process writes to stdout or stderr, and with Lambda's own about time limits. */
  readonly onLog?: (line: string) => void;
  /** Folders that stand in for what a function reaches over the network: it may write to them. None if absent. */
  readonly writable?: readonly string[];
  /** Milliseconds that loading may take before it is tried once more. Default: 10,000, as on Lambda. */
  readonly initMs?: number;
  /** Decides what happens only now and then; by the odds of `lambdaRules` and always with the same seed, if absent. */
  readonly sometimes?: Sometimes;
};

export type HandlerProcess = {
  /**
   * Calls the handler with the event, as JSON, and a Lambda context; calls take turns. Returns its result, or null if
   * there is none, once the lines that it wrote have been passed on. Throws `HandlerError`; after a crash or a timeout,
   * and now and then after a success, the next call starts a new process.
   */
  invoke(event: unknown): Promise<unknown>;
  /** Refuses further calls, waits at most `graceMs` (10,000) for pending ones, and ends the process. */
  close(graceMs?: number): Promise<void>;
  /** Kills the process in the middle of a call, which throws; the next one starts another. */
  crash(): Promise<void>;
} & AsyncDisposable;

/**
 * A Lambda function on this machine: one invocation at a time, in a process that the first one starts, that is frozen
 * between invocations (except on Windows), and that may write to nothing but a temporary folder. Throws a `TypeError` if
 * Lambda would not accept `timeoutMs`.
 */
export function createHandlerProcess(options: HandlerProcessOptions): HandlerProcess {
  const lambda = withDefaults(options);
  const environment = createExecutionEnvironment(lambda);
  let turns: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const invoke = (event: unknown): Promise<unknown> => {
    if (isClosed) return Promise.reject(new HandlerError('invoke', lambda.functionName, { kind: 'closed' }));
    const turn = turns.then(() => environment.run(event));
    turns = turn.catch(() => undefined);
    return turn;
  };

  const close = async (graceMs = DEFAULT_GRACE_MS): Promise<void> => {
    isClosed = true;
    const inTime = await settlesWithin(turns, graceMs);
    await environment.end(inTime ? EXIT_MS : 0);
    await turns;
  };
  return { invoke, close, crash: environment.crash, [Symbol.asyncDispose]: () => close() };
}

const DEFAULT_GRACE_MS = 10_000;
const INIT_MS = 10_000;
// For what the handler does when its process exits.
const EXIT_MS = 500;
const MAX_TIMEOUT_MS = 900_000;
const SEED = 1;

function withDefaults({ file, environment, timeoutMs, ...given }: HandlerProcessOptions): LambdaFunction {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS)
    throw new TypeError(`timeoutMs: expected a whole number from 1 to ${MAX_TIMEOUT_MS}, got ${timeoutMs}`);
  const { functionName = basename(file, extname(file)), memoryMb = 1_024, writable = [] } = given;
  const lambdas = {
    AWS_REGION: REGION,
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    TZ: 'UTC',
  };
  return {
    file: resolve(file),
    environment: { ...lambdas, ...environment },
    timeoutMs,
    functionName,
    memoryMb,
    writable,
    onLog: given.onLog ?? (() => undefined),
    initMs: given.initMs ?? INIT_MS,
    sometimes: given.sometimes ?? sometimes(SEED),
  };
}

/** True if the promise is fulfilled or rejected within this many milliseconds. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
