import { DurableExecutionAlreadyStartedException, InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type AwsEnvironment, asAwsError, awsClientConfig } from '../../base/aws/index.ts';

/**
 * Starts an execution. Resolves when it is certain that the execution runs. Only one execution runs under a name, so
 * the call may be repeated. Even if it throws `AwsError`, the execution may run. `input`: JSON.
 */
export type StartExecution = (
  execution: { readonly name: string; readonly input: string },
  signal?: AbortSignal,
) => Promise<void>;

/** Starts durable executions of a Lambda function, which run independently of the caller. */
export function lambdaExecutions(options: {
  /** The function, by ARN or name, with a version or alias: Lambda starts durable executions only of these. */
  readonly functionName: string;
  readonly environment: AwsEnvironment;
}): StartExecution {
  const { functionName, environment } = options;
  const limits = { connectionTimeoutMs: 5_000, requestTimeoutMs: 10_000 };
  const client = new LambdaClient(awsClientConfig(environment, { service: 'LAMBDA', ...limits }));
  return async ({ name, input }, signal) => {
    const command = new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'Event',
      DurableExecutionName: name,
      Payload: Buffer.from(input),
    });
    const tried = `start execution ${name} of ${functionName}`;
    await asAwsError({ resource: 'snapshot-function', tried, signal }, async () => {
      try {
        await client.send(command, signal === undefined ? {} : { abortSignal: signal });
      } catch (error) {
        // The name was used with another input, such as other followers, so the run is already in progress.
        if (!(error instanceof DurableExecutionAlreadyStartedException)) throw error;
      }
    });
  };
}
