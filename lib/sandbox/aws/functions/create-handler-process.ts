import { randomUUID } from 'node:crypto';
import { basename, extname, resolve } from 'node:path';
import type { Environment } from '../../../settings.ts';
import { ACCOUNT, REGION } from '../identity.ts';
import { HandlerError, type HandlerFailure } from './handler-error.ts';
import { type Invocation, START_ID } from './invocation.ts';
import { settlesWithin } from './settles-within.ts';
import { type Runner, startRunner } from './start-runner.ts';

export type HandlerProcessOptions = {
  /** The path of a .ts or .mjs file that exports `handler`; it is never loaded into this process. */
  readonly file: string;
  /** The whole environment of the process, apart from what Lambda sets itself. */
  readonly environment: Environment;
  /** The time limit of one invocation, after which the process is killed. 1 to 900,000. */
  readonly timeoutMs: number;
  /** 1,024 if absent; nine tenths of it are for long-lived objects. */
  readonly memoryMb?: number;
  /** The file's name without its extension, if absent. */
  readonly functionName?: string;
  /** Called with every line that the process writes to stdout or stderr. */
  readonly onLog?: (line: string) => void;
};

export type HandlerProcess = {
  /**
   * Calls the handler with the event, as JSON, and a Lambda context; calls take turns. Returns its result, or null if
   * there is none. Throws `HandlerError`; after a crash or a timeout the next call starts a new process.
   */
  invoke(event: unknown): Promise<unknown>;
  /** Refuses further calls, waits at most `graceMs` (10,000) for pending ones, and ends the process. */
  close(graceMs?: number): Promise<void>;
} & AsyncDisposable;

/**
 * A Lambda function on this machine: one invocation at a time, in a process that the first one starts. Throws a
 * `TypeError` if Lambda would not accept `timeoutMs`.
 */
export function createHandlerProcess(options: HandlerProcessOptions): HandlerProcess {
  const lambda = withDefaults(options);
  let runner: Runner | undefined;
  let turns: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  let isKilled = false;

  const failed = (step: 'load' | 'invoke', failure: HandlerFailure) =>
    new HandlerError(step, lambda.functionName, isKilled ? { kind: 'closed' } : failure);

  const settle = async (
    step: 'load' | 'invoke',
    called: Runner,
    { id, limitMs }: { readonly id: string; readonly limitMs: number },
  ): Promise<unknown> => {
    const outcome = await called.receive(id, limitMs);
    if (outcome.kind === 'result') return outcome.result;
    // A process may serve the next invocation only if the handler merely threw.
    if (step === 'load' || outcome.kind !== 'threw') await called.end(0);
    throw failed(step, outcome.kind === 'timeout' ? { ...outcome, timeoutMs: limitMs } : outcome);
  };

  const takeTurn = async (event: unknown): Promise<unknown> => {
    if (isKilled) throw failed('invoke', { kind: 'closed' });
    if (!runner?.isAlive()) {
      runner = startRunner(lambda);
      await settle('load', runner, { id: START_ID, limitMs: LOAD_MS });
    }
    const invocation = createInvocation(lambda, event);
    const settled = settle('invoke', runner, { id: invocation.id, limitMs: lambda.timeoutMs });
    runner.send(invocation);
    return settled;
  };

  const invoke = (event: unknown): Promise<unknown> => {
    if (isClosed) return Promise.reject(failed('invoke', { kind: 'closed' }));
    const turn = turns.then(() => takeTurn(event));
    turns = turn.catch(() => undefined);
    return turn;
  };

  const close = async (graceMs = DEFAULT_GRACE_MS): Promise<void> => {
    isClosed = true;
    isKilled = !(await settlesWithin(turns, graceMs));
    await runner?.end(isKilled ? 0 : EXIT_MS);
    await turns;
  };
  return { invoke, close, [Symbol.asyncDispose]: () => close() };
}

const DEFAULT_GRACE_MS = 10_000;
// Lambda gives a handler 10 s to load; a busy machine needs more.
const LOAD_MS = 30_000;
// For what the handler does when its process exits.
const EXIT_MS = 500;
const LONGEST_TIMEOUT_MS = 900_000;

function withDefaults({ file, environment, timeoutMs, ...given }: HandlerProcessOptions) {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LONGEST_TIMEOUT_MS)
    throw new TypeError(
      `timeoutMs: expected a whole number from 1 to ${LONGEST_TIMEOUT_MS}, got ${timeoutMs}`,
    );
  const { functionName = basename(file, extname(file)), memoryMb = 1_024, onLog = () => undefined } = given;
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
    onLog,
  };
}

const createInvocation = (lambda: ReturnType<typeof withDefaults>, event: unknown): Invocation => ({
  id: randomUUID(),
  event,
  deadlineMs: Date.now() + lambda.timeoutMs,
  functionName: lambda.functionName,
  functionArn: `arn:aws:lambda:${lambda.environment.AWS_REGION}:${ACCOUNT}:function:${lambda.functionName}`,
  memoryMb: lambda.memoryMb,
});
