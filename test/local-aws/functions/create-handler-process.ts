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
  /** Memory in MB, of which nine tenths are for long-lived objects. Default: 1,024. */
  readonly memoryMb?: number;
  /** The function's name. Default: the file's name without its extension. */
  readonly functionName?: string;
  /** Called with every line that the process writes to stdout or stderr, and with Lambda's own lines about timeouts. */
  readonly onLog?: (line: string) => void;
  /** Folders that the function may write to, in place of services that it would reach over the network. Default: none. */
  readonly writable?: readonly string[];
  /** Maximum milliseconds of loading the file before it is tried once more. Default: 10,000, as on Lambda. */
  readonly initMs?: number;
  /** Decides whether an occasional event happens. Default: by the probabilities of `lambdaRules`, with a fixed seed. */
  readonly sometimes?: Sometimes;
};

export type HandlerProcess = {
  /**
   * Calls the handler with the event, as JSON, and a Lambda context; calls run one after another. Returns its result or
   * null, after its log lines were passed on. Throws `HandlerError`. After a crash or a timeout, and occasionally after
   * a success, the next call starts a new process.
   */
  invoke(event: unknown): Promise<unknown>;
  /** Rejects further calls, waits at most `graceMs` (10,000) for pending ones, and ends the process. */
  close(graceMs?: number): Promise<void>;
  /** Kills the process during a call, which then throws. The next call starts a new process. */
  crash(): Promise<void>;
} & AsyncDisposable;

/**
 * Creates a Lambda function on this machine. It runs one invocation at a time, in a process that the first one starts.
 * The process is frozen between invocations (except on Windows), and may write only to a temporary folder. Throws a
 * `TypeError` if Lambda would not accept `timeoutMs`.
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
// How long a handler may run when its process exits.
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
