import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type AwsEnvironment, awsClientConfig } from '../base/index.ts';
import { explainDynamoError, type FailedTable, isConditionFailed } from '../table/dynamo-failure.ts';
import { TableError } from '../table/index.ts';
import { checkKeysOnce } from '../table/table-keys.ts';
import type { Budget, BudgetWrite, HostItem } from './budget.ts';
import { budgetBy, type ChangeBudget } from './budget-changes.ts';
import { type BudgetUpdate, budgetOf, changeUpdate, reserveUpdate, toUpdateInput } from './budget-updates.ts';
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

/** The budget of a host in a DynamoDB table, and the breaker in it: the item with the keys `pace#HOST` and `-`. */
export function createDynamoBudget(options: DynamoBudgetOptions): HostItem {
  const { tableName, host, environment, client = createBudgetClient(environment), onBudget } = options;
  const place: BudgetAddress = {
    client,
    tableName,
    host,
    checkKeys: checkKeysOnce(client, tableName),
    onBudget,
  };
  const item = budgetBy({
    read: () => explained('read', place, () => read(place)),
    change: (act, changeOf) => explained(act, place, () => changeAsRead(place, changeOf)),
  });
  return {
    ...item,
    reserve: (reservation) =>
      reservation.kind === 'idle' || reservation.kind === 'busy'
        ? explained('reserve', place, () => writeIf(place, reserveUpdate(reservation)))
        : item.reserve(reservation),
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

/** How often a budget is read again for one change: whoever changes it meanwhile does so rarely. */
const MOST_ROUNDS = 10;

/** Changes what is read, unless somebody else does so meanwhile: what they left is read again then. */
async function changeAsRead(
  place: BudgetAddress,
  changeOf: Parameters<ChangeBudget>[1],
): Promise<BudgetWrite> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const before = await read(place);
    const next = changeOf(before);
    if (next === undefined) return { kind: 'refused' };
    const update = changeUpdate(before, next);
    if (update.update === '') return { kind: 'written', budget: before };
    const written = await writeIf(place, update);
    if (written.kind === 'written') return written;
  }
  throw new TableError(`change pace#${place.host}`, { kind: 'busy', code: 'changed each time' });
}

async function writeIf(place: BudgetAddress, change: BudgetUpdate): Promise<BudgetWrite> {
  try {
    const { Attributes } = await place.client.send(
      new UpdateItemCommand({ ...itemOf(place), ReturnValues: 'ALL_NEW', ...toUpdateInput(change) }),
    );
    return { kind: 'written', budget: received(Attributes, place) };
  } catch (error) {
    if (isConditionFailed(error)) return { kind: 'refused' };
    throw error;
  }
}

function received(item: Parameters<typeof budgetOf>[0], { onBudget }: BudgetAddress): Budget {
  const budget = budgetOf(item);
  onBudget?.(budget);
  return budget;
}

async function explained<T>(act: string, place: BudgetAddress, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TableError) throw error;
    const tried = `${act} pace#${place.host} - in table ${place.tableName}`;
    throw new TableError(tried, await explainDynamoError(place, error), { cause: error });
  }
}
