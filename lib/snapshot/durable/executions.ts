import type { StartExecution } from './start-execution.ts';

export type { StartExecution };

/** Opens what starts durable executions of a Lambda function: see `lambdaExecutions`. Loads the SDK. */
export const openExecutions = async (
  ...given: Parameters<typeof import('./start-execution.ts').lambdaExecutions>
): Promise<StartExecution> => (await import('./start-execution.ts')).lambdaExecutions(...given);

/** Opens the client by which an execution stores its steps: see `createCheckpointClient`. Loads the SDK. */
export const openCheckpointClient = async (
  ...given: Parameters<typeof import('./start-execution.ts').createCheckpointClient>
) => (await import('./start-execution.ts')).createCheckpointClient(...given);
