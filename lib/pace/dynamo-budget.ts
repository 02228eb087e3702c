import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type AwsEnvironment, awsClientConfig } from '../aws/client-config.ts';
import { explainDynamoError, type FailedTable, isConditionFailed } from '../table/dynamo-failure.ts';
import { TableError } from '../table/table-error.ts';
import { checkKeysOnce } from '../table/table-keys.ts';
import type { Budget, BudgetItem, BudgetWrite } from './budget.ts';
import {
  type BudgetUpdate,
  budgetOf,
  capUpdate,
  lowerUpdate,
  pauseUpdate,
  RESUME_UPDATE,
  reserveUpdate,
  resetUpdate,
  toUpdateInput,
} from './budget-updates.ts';
import { reportDates } from './table-clock.ts';

export type DynamoBudgetOptions = {
  /** Its keys are the strings `pk` and `sk`. */
  readonly tableName: string;
  /** The platform's host. */
  readonly host: string;
  readonly environment: AwsEnvironment;
  /** Default: a client for `environment` that tries once and gives up after a second. */
  readonly client?: DynamoDBClient;
  /** Called with each budget that a response brings. */
  readonly onBudget?: (budget: Budget) => void;
  /** Epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
};

/** A call waits for these writes: no response is better than a late one. */
const TIMEOUT_MS = 1_000;

/** The client for budgets. By default it does not retry: the caller knows whether a retry is worth it. */
export const createBudgetClient = (environment: AwsEnvironment, attempts = 1): DynamoDBClient =>
  new DynamoDBClient({
    ...awsClientConfig(environment, {
      service: 'DYNAMODB',
      connectionTimeoutMs: TIMEOUT_MS,
      requestTimeoutMs: TIMEOUT_MS,
    }),
    maxAttempts: attempts,
    // `reportDates` may come after its first requests.
    cacheMiddleware: false,
  });

/** The budget of a host in a DynamoDB table: the item with the keys `pace#HOST` and `-`. */
export function createDynamoBudget(options: DynamoBudgetOptions): BudgetItem {
  const { tableName, host, environment, client = createBudgetClient(environment), onBudget } = options;
  const checkKeys = checkKeysOnce(client, tableName);
  const place: BudgetAddress = { client, tableName, host, checkKeys, onBudget };
  return {
    read: () => explained('read', place, () => read(place)),
    reserve: (reservation) => writeIf('reserve', place, reserveUpdate(reservation)),
    lower: (incident) => writeIf('lower', place, lowerUpdate(incident)),
    pause: (atMs) => explained('pause', place, () => update(place, pauseUpdate(atMs))),
    resume: () => explained('resume', place, () => update(place, RESUME_UPDATE)),
    reset: (fromMs) => explained('reset', place, () => update(place, resetUpdate(fromMs))),
    cap: (rate) => explained('cap', place, () => update(place, capUpdate(rate))),
    onDate: (listener) => reportDates(client, { now: options.now ?? Date.now, listener }),
  };
}

type BudgetAddress = FailedTable & {
  readonly client: DynamoDBClient;
  readonly host: string;
  readonly onBudget: DynamoBudgetOptions['onBudget'];
};

const itemOf = ({ tableName, host }: BudgetAddress) => ({
  TableName: tableName,
  Key: { pk: { S: `pace#${host}` }, sk: { S: '-' } },
});

async function read(place: BudgetAddress): Promise<Budget> {
  const { Item } = await place.client.send(new GetItemCommand({ ...itemOf(place), ConsistentRead: true }));
  return received(Item, place);
}

async function update(place: BudgetAddress, change: BudgetUpdate): Promise<Budget> {
  const { Attributes } = await place.client.send(
    new UpdateItemCommand({ ...itemOf(place), ReturnValues: 'ALL_NEW', ...toUpdateInput(change) }),
  );
  return received(Attributes, place);
}

function received(item: Parameters<typeof budgetOf>[0], { onBudget }: BudgetAddress): Budget {
  const budget = budgetOf(item);
  onBudget?.(budget);
  return budget;
}

const writeIf = (act: string, place: BudgetAddress, change: BudgetUpdate): Promise<BudgetWrite> =>
  explained(act, place, async () => {
    try {
      return { kind: 'written', budget: await update(place, change) };
    } catch (error) {
      if (isConditionFailed(error)) return { kind: 'refused' };
      throw error;
    }
  });

async function explained<T>(act: string, place: BudgetAddress, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const tried = `${act} pace#${place.host} - in table ${place.tableName}`;
    throw new TableError(tried, await explainDynamoError(place, error), { cause: error });
  }
}
