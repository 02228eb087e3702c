import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { once } from '../once.ts';
import type { BreakerItem, OpenBreaker } from '../pace/breaker.ts';
import { type Breaker, createFleetBreaker } from '../pace/fleet-breaker.ts';
import { createMemoryBreaker } from '../pace/memory-breaker.ts';
import { sleep } from '../time/sleep.ts';
import type { Call } from './call.ts';
import { probePlatform } from './outage.ts';

export type OpenBreakerOptions = {
  /** The table that the fleet shares; without one the breaker is this process's own. */
  readonly tableName: string | undefined;
  /** The platform's host. */
  readonly host: string;
  /** The client for the table. */
  readonly client: () => Promise<DynamoDBClient>;
  /** Makes the probes. */
  readonly call: Call;
  readonly onOpen: (breaker: OpenBreaker) => void;
  readonly onClosed: (breaker: OpenBreaker) => void;
};

/** The breaker of a process. Reads nothing, and loads no SDK, until a job is about to be taken. */
export const openBreaker = (options: OpenBreakerOptions): Breaker =>
  createFleetBreaker({
    item: options.tableName === undefined ? createMemoryBreaker() : loadedLater(options.tableName, options),
    probe: () => probePlatform(options.call),
    clock: { now: Date.now, sleep },
    onOpen: options.onOpen,
    onClosed: options.onClosed,
  });

function loadedLater(tableName: string, { host, client }: OpenBreakerOptions): BreakerItem {
  const loaded = once(async () => {
    const { createDynamoBreaker } = await import('../pace/dynamo-breaker.ts');
    return createDynamoBreaker({ tableName, host, client: await client() });
  });
  return {
    read: async () => (await loaded()).read(),
    open: async (breaker) => (await loaded()).open(breaker),
    takeProbe: async (...seen) => (await loaded()).takeProbe(...seen),
    close: async (seen) => (await loaded()).close(seen),
  };
}
