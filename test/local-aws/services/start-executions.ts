import { randomUUID } from 'node:crypto';
import { HandlerError } from '../functions/invocation.ts';
import { type JsonRequest, type JsonResponse, startJsonServer, unknownOperation } from './json-server.ts';

/** The outcome of an execution. */
export type EndedExecution = {
  readonly status: 'SUCCEEDED' | 'FAILED';
  /** The parsed result of the function; undefined if it failed. */
  readonly result: unknown;
  readonly error: { readonly ErrorMessage?: string } | undefined;
  readonly invocations: number;
  /** The names of the steps and waits, in the order in which they were started. */
  readonly operations: readonly string[];
};

export type ExecutionToRun = {
  readonly arn: string;
  /** JSON. */
  readonly input: string;
  /** Invokes the function once. */
  readonly invoke: (event: object) => Promise<unknown>;
  /** Called with the name of each step that begins, and again for each retry. */
  readonly onStep?: ((name: string) => void) | undefined;
  /** Sleeps for waits and for delays between retries. Default: they take no time. */
  readonly sleep?: ((ms: number) => Promise<unknown>) | undefined;
};

export type LocalExecutions = {
  readonly endpoint: string;
  /**
   * Runs an execution to its end. After a crash or a timeout it is invoked again, until several crashes in a row stored
   * nothing. Rethrows other errors of an invocation.
   */
  run(execution: ExecutionToRun): Promise<EndedExecution>;
} & AsyncDisposable;

/**
 * Starts a stand-in for the service that stores durable executions, with steps and waits. An event contains only the
 * execution itself; the function requests the steps that were already done.
 */
export async function startExecutions(): Promise<LocalExecutions> {
  const executions = new Map<string, Execution>();
  const server = await startJsonServer((request) => {
    const [, arn = '', action] = PATH.exec(request.url.pathname) ?? [];
    const execution = executions.get(decodeURIComponent(arn));
    if (action === undefined || execution === undefined) return unknownOperation(request);
    return action === 'state' ? { status: 200, body: stateOf(execution) } : checkpoint(execution, request);
  });
  return {
    ...server,
    async run({ arn, input, invoke, onStep, sleep = async () => undefined }) {
      const execution = begin(input, onStep);
      executions.set(arn, execution);
      let [crashes, token] = [0, ''];
      for (let invocations = 1; ; invocations += 1) {
        const output = (await invoke(eventOf(arn, execution)).catch((error: unknown) => {
          crashes = token === execution.token ? crashes + 1 : 1;
          token = execution.token;
          if (!isCrash(error) || crashes === MAX_CRASHES) throw error;
          execution.updated = [];
        })) as Output | undefined;
        if (output === undefined) continue;
        if (output.Status !== 'PENDING') return ended(output, execution, invocations);
        await sleep(waitMsOf(execution));
        endWaits(execution);
      }
    },
  };
}

/** Maximum number of crashes in a row without anything stored in between. */
const MAX_CRASHES = 5;

const isCrash = (error: unknown): boolean =>
  error instanceof HandlerError && (error.failure.kind === 'died' || error.failure.kind === 'timeout');

const PATH = /^\/2025-12-01\/durable-executions\/([^/]+)\/(checkpoint|state)$/;

type Operation = {
  readonly Id: string;
  readonly Type: string;
  readonly Name?: string;
  readonly SubType?: string;
  readonly ParentId?: string;
  readonly StartTimestamp: number;
  readonly EndTimestamp?: number;
  readonly Status: string;
  readonly StepDetails?: {
    readonly Attempt: number;
    readonly NextAttemptTimestamp?: number;
    readonly Result?: unknown;
    readonly Error?: unknown;
  };
  readonly WaitDetails?: { readonly ScheduledEndTimestamp: number };
  readonly ExecutionDetails?: { readonly InputPayload: string };
};

/** A change to an operation, as a function requests it. */
type Update = Pick<Operation, 'Id' | 'Type' | 'Name' | 'SubType' | 'ParentId'> & {
  readonly Action: 'START' | 'SUCCEED' | 'FAIL' | 'RETRY';
  readonly Payload?: string;
  readonly Error?: unknown;
  readonly WaitOptions?: { readonly WaitSeconds: number };
  readonly StepOptions?: { readonly NextAttemptDelaySeconds?: number };
};

type Execution = {
  token: string;
  readonly operations: Map<string, Operation>;
  /** The operations that have changed since the last invocation. */
  updated: readonly string[];
  readonly onStep: ((name: string) => void) | undefined;
};

type Output = {
  readonly Status: 'SUCCEEDED' | 'FAILED' | 'PENDING';
  readonly Result?: string;
  readonly Error?: { readonly ErrorMessage?: string };
};

const seconds = () => Date.now() / 1_000;

function begin(input: string, onStep: Execution['onStep']): Execution {
  const first = {
    Id: randomUUID(),
    Type: 'EXECUTION',
    StartTimestamp: seconds(),
    Status: 'STARTED',
    ExecutionDetails: { InputPayload: input },
  };
  return { token: randomUUID(), operations: new Map([[first.Id, first]]), updated: [], onStep };
}

function eventOf(arn: string, { token, operations, updated }: Execution): object {
  const [first, ...others] = operations.values();
  return {
    DurableExecutionArn: arn,
    CheckpointToken: token,
    UpdatedOperationIds: updated,
    InitialExecutionState: {
      // In an event, times are text.
      Operations: [{ ...first, StartTimestamp: new Date().toISOString() }],
      ...(others.length === 0 ? {} : { NextMarker: 'others' }),
    },
  };
}

const stateOf = ({ operations }: Execution) => ({ Operations: [...operations.values()].slice(1) });

function checkpoint(execution: Execution, { body }: JsonRequest): JsonResponse {
  if (body['CheckpointToken'] !== execution.token)
    return { status: 400, error: 'InvalidParameterValueException', message: 'Invalid Checkpoint Token' };
  const updates = (body['Updates'] ?? []) as readonly Update[];
  const changed = updates.map((update) => changedBy(update, execution.operations.get(update.Id)));
  for (const operation of changed) execution.operations.set(operation.Id, operation);
  for (const { Type, Action, Name = '' } of updates)
    if (Type === 'STEP' && Action === 'START') execution.onStep?.(Name);
  execution.token = randomUUID();
  return {
    status: 200,
    body: { CheckpointToken: execution.token, NewExecutionState: { Operations: changed } },
  };
}

const STATUS = { START: 'STARTED', SUCCEED: 'SUCCEEDED', FAIL: 'FAILED', RETRY: 'PENDING' } as const;

function changedBy(
  { Action, Payload: Result, Error: failure, WaitOptions, StepOptions, ...named }: Update,
  before: Operation | undefined,
): Operation {
  const now = seconds();
  const isOver = Action === 'SUCCEED' || Action === 'FAIL';
  const Attempt = (before?.StepDetails?.Attempt ?? 0) + (Action === 'START' ? 0 : 1);
  const next =
    Action === 'RETRY' ? { NextAttemptTimestamp: now + (StepOptions?.NextAttemptDelaySeconds ?? 0) } : {};
  return {
    StartTimestamp: now,
    ...before,
    ...named,
    Status: STATUS[Action],
    ...(isOver ? { EndTimestamp: now } : {}),
    ...(named.Type === 'STEP' ? { StepDetails: { Attempt, Result, Error: failure, ...next } } : {}),
    ...(WaitOptions === undefined
      ? {}
      : { WaitDetails: { ScheduledEndTimestamp: now + WaitOptions.WaitSeconds } }),
  };
}

const isWaiting = ({ Type, Status }: Operation): boolean =>
  (Type === 'WAIT' && Status === 'STARTED') || Status === 'PENDING';

/** The remaining milliseconds of the shortest wait or delay. */
function waitMsOf({ operations }: Execution): number {
  const ends = [...operations.values()]
    .filter(isWaiting)
    .map(
      ({ WaitDetails, StepDetails }) =>
        WaitDetails?.ScheduledEndTimestamp ?? StepDetails?.NextAttemptTimestamp ?? 0,
    );
  return Math.max(0, (Math.min(...ends) - seconds()) * 1_000);
}

/** Ends every wait and retry delay of an execution. */
function endWaits(execution: Execution): void {
  const waiting = [...execution.operations.values()].filter(isWaiting);
  if (waiting.length === 0) throw new Error('expected an execution that is waiting for something');
  for (const operation of waiting)
    execution.operations.set(operation.Id, {
      ...operation,
      ...(operation.Type === 'WAIT' ? { Status: 'SUCCEEDED', EndTimestamp: seconds() } : { Status: 'READY' }),
    });
  execution.updated = waiting.map(({ Id }) => Id);
}

const ended = ({ Status, Result, Error: error }: Output, { operations }: Execution, invocations: number) => ({
  status: Status as EndedExecution['status'],
  result: Result === undefined ? undefined : JSON.parse(Result),
  error,
  invocations,
  operations: [...operations.values()].slice(1).map(({ Type, Name }) => Name ?? Type),
});
