import {
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { explainDynamoError, isConditionFailed } from '../table/dynamo-failure.ts';
import { TableError } from '../table/table-error.ts';
import { checkKeysOnce } from '../table/table-keys.ts';
import type { BreakerItem } from './breaker.ts';
import { breakerOf } from './budget-updates.ts';

export type DynamoBreakerOptions = {
  readonly client: DynamoDBClient;
  /** Its keys are the strings `pk` and `sk`. */
  readonly tableName: string;
  /** The platform's host. */
  readonly host: string;
};

/** The breaker of a host, in the item that holds its budget: the attributes `breakerSince`, `…Cause` and `…ProbeAt`. */
export function createDynamoBreaker({ client, tableName, host }: DynamoBreakerOptions): BreakerItem {
  const checkKeys = checkKeysOnce(client, tableName);
  const item = { TableName: tableName, Key: { pk: { S: `pace#${host}` }, sk: { S: '-' } } };
  const ask = async <T>(act: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const failure = await explainDynamoError({ tableName, checkKeys }, error);
      throw new TableError(`${act} the breaker of ${host} in table ${tableName}`, failure, { cause: error });
    }
  };
  /** False if the condition does not hold. */
  const writeIf = (act: string, change: Omit<UpdateItemCommandInput, keyof typeof item>): Promise<boolean> =>
    ask(act, async () => {
      try {
        await client.send(new UpdateItemCommand({ ...item, ...change }));
        return true;
      } catch (error) {
        if (isConditionFailed(error)) return false;
        throw error;
      }
    });

  return {
    read: () =>
      ask('read', async () => {
        const { Item } = await client.send(new GetItemCommand({ ...item, ConsistentRead: true }));
        return breakerOf(Item);
      }),
    async open({ sinceMs, cause, probeAtMs }) {
      await writeIf('open', {
        UpdateExpression: 'SET breakerSince = :since, breakerCause = :cause, breakerProbeAt = :probeAt',
        ConditionExpression: 'attribute_not_exists(breakerSince)',
        ExpressionAttributeValues: { ':since': n(sinceMs), ':cause': { S: cause }, ':probeAt': n(probeAtMs) },
      });
    },
    takeProbe: ({ sinceMs, probeAtMs }, nextProbeAtMs) =>
      writeIf('take the probe of', {
        UpdateExpression: 'SET breakerProbeAt = :next',
        ConditionExpression: 'breakerSince = :since AND breakerProbeAt = :seen',
        ExpressionAttributeValues: {
          ':since': n(sinceMs),
          ':seen': n(probeAtMs),
          ':next': n(nextProbeAtMs),
        },
      }),
    async close({ sinceMs }) {
      await writeIf('close', {
        UpdateExpression: 'REMOVE breakerSince, breakerCause, breakerProbeAt',
        ConditionExpression: 'breakerSince = :since',
        ExpressionAttributeValues: { ':since': n(sinceMs) },
      });
    },
  };
}

const n = (value: number) => ({ N: String(value) });
