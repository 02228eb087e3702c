import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { type AwsEnvironment, awsClientConfig } from '../aws/client-config.ts';
import { explainDynamoError, isConditionFailed } from '../table/dynamo-failure.ts';
import { TableError } from '../table/table-error.ts';
import type { Budget, BudgetItem, BudgetWrite } from './budget.ts';

export type DynamoBudgetOptions = {
  /** Its keys are the strings `pk` and `sk`. */
  readonly tableName: string;
  /** The platform's. */
  readonly host: string;
  readonly environment: AwsEnvironment;
  /** Default: one by `environment`, which answers or gives up within a second and tries once. */
  readonly client?: DynamoDBClient;
};

/** A call waits for these writes: better no answer than a late one. */
const timeoutMs = 1_000;

/** The client for budgets. It does not try again: whoever asks knows whether it is worth it. */
export const createBudgetClient = (environment: AwsEnvironment): DynamoDBClient =>
  new DynamoDBClient({
    ...awsClientConfig(environment, {
      service: 'DYNAMODB',
      connectionTimeoutMs: timeoutMs,
      requestTimeoutMs: timeoutMs,
    }),
    maxAttempts: 1,
  });

/** The budget of a host in a DynamoDB table: the item `pace#HOST`, `-`. */
export const createDynamoBudget = (options: DynamoBudgetOptions): BudgetItem => {
  const { tableName, host, environment, client = createBudgetClient(environment) } = options;
  const key = { pk: { S: `pace#${host}` }, sk: { S: '-' } };

  const explained = async <T>(act: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const tried = `${act} pace#${host} - in table ${tableName}`;
      throw new TableError(tried, explainDynamoError(tableName, error), { cause: error });
    }
  };

  const update = async (expressions: Expressions): Promise<Budget> => {
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: key,
        ReturnValues: 'ALL_NEW',
        ...toInput(expressions),
      }),
    );
    return fromItem(Attributes);
  };

  const conditional = (act: string, expressions: Expressions): Promise<BudgetWrite> =>
    explained(act, async () => {
      try {
        return { kind: 'written', budget: await update(expressions) };
      } catch (error) {
        if (isConditionFailed(error)) return { kind: 'refused' };
        throw error;
      }
    });

  return {
    read: () =>
      explained('read', async () => {
        const command = new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true });
        return fromItem((await client.send(command)).Item);
      }),
    reserve({ kind, fromMs, latestMs, blockMs, incidents, rate, tally }) {
      const last = Math.min(latestMs, Number.MAX_SAFE_INTEGER);
      const free = '(attribute_not_exists(#tat) OR #tat < :from)';
      const end = kind === 'idle' ? free : '#tat >= :from AND #tat <= :latest';
      const line = kind === 'idle' ? ':to' : '#tat + :block';
      return conditional('reserve', {
        update: `SET #tat = ${line}, #rate = :rate ADD ${Object.keys(tally)
          .map((name) => `#${name} :${name}`)
          .join(', ')}`,
        condition: `${end} AND attribute_not_exists(#pausedAt) AND ${still(incidents)}`,
        values: {
          from: fromMs,
          ...(kind === 'idle' ? { to: fromMs + blockMs } : { latest: last, block: blockMs }),
          incidents,
          rate,
          ...tally,
        },
      });
    },
    lower: ({ incidents, fromMs, lowered }) =>
      conditional('lower', {
        update: 'SET #tat = :from, #incidents = :next, #loweredRate = :loweredRate, #loweredAt = :loweredAt',
        condition: still(incidents),
        values: {
          from: fromMs,
          incidents,
          next: incidents + 1,
          loweredRate: lowered.rate,
          loweredAt: lowered.atMs,
        },
      }),
    pause: (atMs) =>
      explained('pause', () => update({ update: 'SET #pausedAt = :pausedAt', values: { pausedAt: atMs } })),
    resume: () => explained('resume', () => update({ update: 'REMOVE #pausedAt', values: {} })),
  };
};

/** The rate has been lowered just so often. An item that knows of none has none. */
const still = (incidents: number): string =>
  incidents === 0
    ? '(attribute_not_exists(#incidents) OR #incidents = :incidents)'
    : '#incidents = :incidents';

/** Of an update: `#name` stands for the attribute of that name, `:name` for the value. */
type Expressions = {
  readonly update: string;
  readonly condition?: string;
  readonly values: Readonly<Record<string, number>>;
};

const toInput = ({ update, condition, values }: Expressions) => {
  const names = `${update} ${condition ?? ''}`.match(/#\w+/g) ?? [];
  const input: Pick<
    UpdateItemCommandInput,
    'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
  > = {
    UpdateExpression: update,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
  };
  if (condition !== undefined) input.ConditionExpression = condition;
  const given = Object.entries(values).map(([name, value]) => [`:${name}`, { N: String(value) }]);
  if (given.length > 0) input.ExpressionAttributeValues = Object.fromEntries(given);
  return input;
};

const fromItem = (item: Record<string, AttributeValue> | undefined): Budget => {
  const number = (name: string) => (item?.[name]?.N === undefined ? undefined : Number(item[name].N));
  const count = (name: string) => number(name) ?? 0;
  const [rate, atMs] = [number('loweredRate'), number('loweredAt')];
  return {
    tatMs: number('tat'),
    incidents: count('incidents'),
    lowered: rate === undefined || atMs === undefined ? undefined : { rate, atMs },
    pausedAtMs: number('pausedAt'),
    rate: number('rate'),
    tally: {
      granted: count('granted'),
      used: count('used'),
      wasted: count('wasted'),
      waitedMs: count('waitedMs'),
      throttled: count('throttled'),
      safeRate: count('safeRate'),
    },
  };
};
