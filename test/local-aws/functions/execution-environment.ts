import { randomUUID } from 'node:crypto';
import type { Environment } from '../../../lib/settings.ts';
import { ACCOUNT } from '../identity.ts';
import { HandlerError, type HandlerFailure, type Invocation, START_ID } from './invocation.ts';
import type { Sometimes } from './lambda-rules.ts';
import { type Runner, type RunnerOptions, startRunner } from './start-runner.ts';

export type LambdaFunction = RunnerOptions & {
  readonly environment: Environment;
  readonly functionName: string;
  readonly timeoutMs: number;
  readonly initMs: number;
  readonly sometimes: Sometimes;
};

/** Runs the invocations of one function, one after another. */
export type ExecutionEnvironment = {
  /** The handler's result. Throws `HandlerError`. */
  run(event: unknown): Promise<unknown>;
  /** Ends the process after a grace period. A running invocation then fails as closed, and so does every later one. */
  end(graceMs: number): Promise<void>;
  /** Kills the process at any point, as a fault of its host would. The next invocation starts a new process. */
  crash(): Promise<void>;
};

/**
 * A process that the first invocation starts, that is frozen after each, and that is replaced if it died, exceeded a
 * time limit, or was recycled. It follows the rules of Lambda in `lambdaRules`.
 */
export function createExecutionEnvironment(lambda: LambdaFunction): ExecutionEnvironment {
  let runner: Runner | undefined;
  let isKilled = false;

  const failed = (step: 'load' | 'invoke', failure: HandlerFailure) =>
    new HandlerError(step, lambda.functionName, isKilled ? { kind: 'closed' } : failure);

  /** A process that has loaded the handler; undefined on timeout. */
  const load = async (limitMs: number): Promise<Runner | undefined> => {
    if (isKilled) throw failed('load', { kind: 'closed' });
    runner = startRunner(lambda);
    const outcome = await runner.receive(START_ID, limitMs);
    if (outcome.kind === 'result') return runner;
    await runner.end(0);
    if (outcome.kind === 'timeout') return undefined;
    throw failed('load', outcome);
  };

  const timedOut = (step: 'load' | 'invoke', { id }: Invocation) => {
    const seconds = (lambda.timeoutMs / 1_000).toFixed(2);
    lambda.onLog(`${new Date().toISOString()} ${id} Task timed out after ${seconds} seconds`);
    return failed(step, { kind: 'timeout', timeoutMs: lambda.timeoutMs });
  };

  const invoke = async (event: unknown): Promise<unknown> => {
    if (isKilled) throw failed('invoke', { kind: 'closed' });
    if (runner?.isAlive() && lambda.sometimes('recycles')) await runner.end(0);
    const loaded = runner?.isAlive() ? runner : await load(lambda.initMs);
    if (loaded === undefined)
      lambda.onLog(`INIT_REPORT Init Duration: ${lambda.initMs.toFixed(2)} ms\tPhase: init\tStatus: timeout`);
    const invocation = createInvocation(lambda, event);
    const running = loaded ?? (await load(leftOf(invocation)));
    if (running === undefined) throw timedOut('load', invocation);
    const settled = running.receive(invocation.id, leftOf(invocation));
    running.send(invocation);
    const outcome = await settled;
    // A process may serve the next invocation only if the handler returned or merely threw.
    if (outcome.kind === 'result' || outcome.kind === 'threw') await running.freeze();
    else await running.end(0);
    if (outcome.kind === 'result') return outcome.result;
    throw outcome.kind === 'timeout' ? timedOut('invoke', invocation) : failed('invoke', outcome);
  };

  const run = (event: unknown): Promise<unknown> =>
    invoke(event).catch((error: unknown) => {
      const status = error instanceof HandlerError ? STATUS[error.failure.kind] : undefined;
      const time = new Date().toISOString();
      if (status !== undefined)
        lambda.onLog(JSON.stringify({ time, type: 'platform.report', record: { status } }));
      throw error;
    });

  const end = async (graceMs: number): Promise<void> => {
    isKilled ||= graceMs === 0;
    await runner?.end(graceMs);
  };
  return { run, end, crash: async () => runner?.end(0) };
}

/** The status that Lambda logs at the end of a failed invocation. The end of a successful one is not logged here. */
const STATUS = { threw: 'error', died: 'failure', timeout: 'timeout', closed: undefined } as const;

const leftOf = ({ deadlineMs }: Invocation): number => Math.max(0, deadlineMs - Date.now());

const createInvocation = (lambda: LambdaFunction, event: unknown): Invocation => ({
  id: randomUUID(),
  event,
  deadlineMs: Date.now() + lambda.timeoutMs,
  functionName: lambda.functionName,
  functionArn: `arn:aws:lambda:${lambda.environment['AWS_REGION']}:${ACCOUNT}:function:${lambda.functionName}`,
  memoryMb: lambda.memoryMb,
});
