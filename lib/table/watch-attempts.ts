import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Has every failed attempt of a command reported, by the command's input. */
export type WatchAttempts = (input: object, onFailed: (error: unknown) => void) => void;

/**
 * Reports why each attempt of a command failed: the SDK's error describes only the last one. The client is watched, not
 * the command: a client that caches its middleware ignores what is added to a command.
 */
export function watchAttemptsOf(client: DynamoDBClient): WatchAttempts {
  const watched = new WeakMap<object, (error: unknown) => void>();
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        watched.get(args.input)?.(error);
        throw error;
      }
    },
    // Inside the SDK's retries, after its errors have been parsed.
    { step: 'deserialize', priority: 'high' },
  );
  return (input, onFailed) => void watched.set(input, onFailed);
}
