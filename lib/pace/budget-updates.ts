import type { AttributeValue, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { breakerOf } from './breaker-attributes.ts';
import type { Budget, Incident, Reservation } from './budget.ts';

/** A change to a budget's item: in its expressions `#name` is the attribute of that name, and `:name` the value. */
export type BudgetUpdate = {
  readonly update: string;
  readonly condition?: string;
  readonly values: Readonly<Record<string, number>>;
};

/** Advances the line if its end is where the reservation says and nobody has lowered the rate or paused it since. */
export function reserveUpdate(reservation: Reservation): BudgetUpdate {
  const { kind, fromMs, latestMs, blockMs, incidents, rate, tally } = reservation;
  const isIdle = kind === 'idle';
  const latest = Math.min(latestMs, Number.MAX_SAFE_INTEGER);
  const free = '(attribute_not_exists(#tat) OR #tat < :from)';
  const end = isIdle ? free : '#tat >= :from AND #tat <= :latest';
  const counts = Object.keys(tally).map((name) => `#${name} :${name}`);
  return {
    update: `SET #tat = ${isIdle ? ':to' : '#tat + :block'}, #rate = :rate ADD ${counts.join(', ')}`,
    condition: `${end} AND attribute_not_exists(#pausedAt) AND ${still(incidents)}`,
    values: {
      from: fromMs,
      ...(isIdle ? { to: fromMs + blockMs } : { latest, block: blockMs }),
      incidents,
      rate,
      ...tally,
    },
  };
}

/** Lowers the rate and restarts the line, unless another worker has lowered the rate since. */
export const lowerUpdate = ({ incidents, fromMs, lowered }: Incident): BudgetUpdate => ({
  update: 'SET #tat = :from, #incidents = :next, #loweredRate = :loweredRate, #loweredAt = :loweredAt',
  condition: still(incidents),
  values: {
    from: fromMs,
    incidents,
    next: incidents + 1,
    loweredRate: lowered.rate,
    loweredAt: lowered.atMs,
  },
});

export const pauseUpdate = (atMs: number): BudgetUpdate => ({
  update: 'SET #pausedAt = :pausedAt',
  values: { pausedAt: atMs },
});

export const RESUME_UPDATE: BudgetUpdate = { update: 'REMOVE #pausedAt', values: {} };

/** The rate has been lowered exactly this many times. An item without the attribute counts as 0. */
const still = (incidents: number): string =>
  incidents === 0
    ? '(attribute_not_exists(#incidents) OR #incidents = :incidents)'
    : '#incidents = :incidents';

type UpdateInput = Pick<
  UpdateItemCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** The change as the input of a DynamoDB update. */
export function toUpdateInput({ update, condition, values }: BudgetUpdate): UpdateInput {
  const names = `${update} ${condition ?? ''}`.match(/#\w+/g) ?? [];
  const given = Object.entries(values).map(([name, value]) => [`:${name}`, { N: String(value) }]);
  return {
    UpdateExpression: update,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...(given.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(given) }),
  };
}

/** The budget that an item holds; the empty budget if there is no item. */
export function budgetOf(item: Readonly<Record<string, AttributeValue>> | undefined): Budget {
  const number = (name: string) => (item?.[name]?.N === undefined ? undefined : Number(item[name].N));
  const count = (name: string) => number(name) ?? 0;
  const [rate, atMs] = [number('loweredRate'), number('loweredAt')];
  return {
    tatMs: number('tat'),
    incidents: count('incidents'),
    lowered: rate === undefined || atMs === undefined ? undefined : { rate, atMs },
    pausedAtMs: number('pausedAt'),
    rate: number('rate'),
    breaker: breakerOf(item),
    tally: {
      granted: count('granted'),
      used: count('used'),
      wasted: count('wasted'),
      waitedMs: count('waitedMs'),
      throttled: count('throttled'),
      safeRate: count('safeRate'),
    },
  };
}
