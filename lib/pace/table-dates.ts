import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DateSeen } from './table-clock.ts';

type Watcher = {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly listener: (seen: DateSeen) => void;
};

const watched = new WeakMap<DynamoDBClient, Set<Watcher>>();

/**
 * Makes a client's responses visible to `reportDates`, and returns the client. Before its first request: it would not
 * see responses to commands that the client has sent before.
 */
export function withDates(client: DynamoDBClient): DynamoDBClient {
  const watchers = new Set<Watcher>();
  client.middlewareStack.add(
    (next) => async (args) => {
      const sent = [...watchers].map((watcher) => ({ ...watcher, sentMs: watcher.now() }));
      const result = await next(args);
      const dateMs = dateOf(result.response);
      if (dateMs === undefined) return result;
      for (const { now, listener, sentMs } of sent) listener({ dateMs, sentMs, receivedMs: now() });
      return result;
    },
    // Around the exchange alone, and before a refusal becomes an error.
    { step: 'deserialize', priority: 'low' },
  );
  watched.set(client, watchers);
  return client;
}

/** Reports when each response of a client was requested and received, and its `Date`; none that has an `Age`. */
export function reportDates(client: DynamoDBClient, watcher: Watcher): void {
  watched.get(client)?.add(watcher);
}

function dateOf(response: unknown): number | undefined {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return undefined;
  const { headers } = response;
  if (typeof headers !== 'object' || headers === null || !('date' in headers) || 'age' in headers)
    return undefined;
  const dateMs = Date.parse(String(headers.date));
  return Number.isNaN(dateMs) ? undefined : dateMs;
}
