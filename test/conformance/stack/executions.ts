import {
  GetDurableExecutionCommand,
  GetDurableExecutionHistoryCommand,
  type LambdaClient,
  ListDurableExecutionsByFunctionCommand,
} from '@aws-sdk/client-lambda';

/** A durable execution, as reported by Lambda. */
export type Execution = {
  readonly status: string;
  /** The version of the function that it runs on. */
  readonly version: string;
  readonly invocations: number;
  /** The names of the finished steps, in order. */
  readonly steps: readonly string[];
  readonly result: unknown;
};

/** The execution of this name, on any version; undefined if it does not exist. */
export async function executionOf(
  lambda: LambdaClient,
  FunctionName: string,
  DurableExecutionName: string,
): Promise<Execution | undefined> {
  const found = await Promise.all(
    ['1', '2'].map((Qualifier) =>
      lambda.send(
        new ListDurableExecutionsByFunctionCommand({ FunctionName, Qualifier, DurableExecutionName }),
      ),
    ),
  );
  const [DurableExecutionArn] = found.flatMap(({ DurableExecutions = [] }) =>
    DurableExecutions.map((each) => each.DurableExecutionArn),
  );
  if (DurableExecutionArn === undefined) return undefined;
  const { Status = '', Result } = await lambda.send(new GetDurableExecutionCommand({ DurableExecutionArn }));
  const { Events = [] } = await lambda.send(
    new GetDurableExecutionHistoryCommand({ DurableExecutionArn, MaxItems: 1000 }),
  );
  const of = (type: string) => Events.filter(({ EventType }) => EventType === type);
  return {
    status: Status,
    version: /:(\d+)\/durable-execution\//.exec(DurableExecutionArn)?.[1] ?? '',
    invocations: of('InvocationCompleted').length,
    steps: of('StepSucceeded').map(({ Name = '' }) => Name),
    result: Result === undefined ? undefined : JSON.parse(Result),
  };
}
