import type { AttributeValue, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { OpenBreaker } from './breaker.ts';
import type { Budget, Incident, LineKind, Reservation } from './budget.ts';
import type { Lowered } from './lowered.ts';

/** A change to a budget's item: in its expressions `#name` is the attribute of that name, and `:name` the value. */
export type BudgetUpdate = {
  readonly update: string;
  readonly condition?: string;
  readonly values: Readonly<Record<string, number>>;
};

/** Advances the line if it is as the reservation says and nobody has lowered the rate or paused it since. */
export function reserveUpdate(reservation: Reservation): BudgetUpdate {
  const { incidents, rate, tally, longestWaitMs, fromMs } = reservation;
  const { set, when, values, remove = '' } = changes[reservation.kind](reservation);
  const longest: Change['values'] =
    longestWaitMs === undefined ? {} : { longestWait: longestWaitMs, longestWaitAt: fromMs };
  const counts = Object.keys(tally).map((name) => `#${name} :${name}`);
  return {
    update: `SET ${set}, #rate = :rate${longestWaitMs === undefined ? '' : ', #longestWait = :longestWait, #longestWaitAt = :longestWaitAt'}${remove} ADD ${counts.join(', ')}`,
    condition: `${when}attribute_not_exists(#pausedAt) AND ${still(incidents)}`,
    values: { ...values, incidents, rate, ...longest, ...tally },
  };
}

type Change = {
  readonly set: string;
  readonly when: string;
  readonly remove?: string;
  readonly values: Readonly<Record<string, number>>;
};

const changes: Readonly<Record<LineKind, (reservation: Reservation) => Change>> = {
  idle: ({ fromMs, blockMs }) => ({
    set: '#tat = :to',
    when: '(attribute_not_exists(#tat) OR #tat < :from) AND ',
    values: { from: fromMs, to: fromMs + blockMs },
  }),
  busy: ({ fromMs, latestMs, blockMs }) => ({
    set: '#tat = #tat + :block',
    when: '#tat >= :from AND #tat <= :latest AND ',
    values: { from: fromMs, latest: Math.min(latestMs, Number.MAX_SAFE_INTEGER), block: blockMs },
  }),
  stray: ({ fromMs, blockMs, incidents }) => ({
    set: '#tat = :to, #incidents = :next',
    when: '',
    remove: ` REMOVE ${THROTTLED}`,
    values: { to: fromMs + blockMs, next: incidents + 1 },
  }),
  probe: ({ probeMs, nextProbeMs = 0 }) => ({
    set: '#probeAt = :next',
    when: `${REFUSING} AND ${isStill('probeAt', probeMs)} AND `,
    values: { next: nextProbeMs, ...given('probeAt', probeMs) },
  }),
  restart: ({ fromMs, blockMs, probeMs }) => ({
    set: '#tat = :to, #succeededAt = :from',
    when: `${REFUSING} AND ${isStill('probeAt', probeMs)} AND `,
    values: { from: fromMs, to: fromMs + blockMs, ...given('probeAt', probeMs) },
  }),
};

/** A 429 has come, and no success has been reported since. */
const REFUSING = 'attribute_exists(#loweredAt) AND attribute_not_exists(#succeededAt)';

const isStill = (name: string, value: number | undefined): string =>
  value === undefined ? `attribute_not_exists(#${name})` : `#${name} = :${name}`;
const given = (name: string, value: number | undefined) => (value === undefined ? {} : { [name]: value });

/** What a 429 leaves behind, by the item's attributes. */
const loweredAttributes = (lowered: Lowered) => ({
  loweredRate: lowered.rate,
  loweredAt: lowered.atMs,
  loweredFrom: lowered.fromRate,
  refused: lowered.refused,
  refusedAt: lowered.refusedAtMs,
  expected: lowered.expectedMs,
  probeAt: lowered.probeMs,
  succeededAt: lowered.succeededMs,
});

const THROTTLED = Object.keys(loweredAttributes({ rate: 0, atMs: 0 }))
  .map((name) => `#${name}`)
  .join(', ');

/** Records a 429 and restarts the line, unless another worker has recorded one since. */
export function lowerUpdate({ incidents, fromMs, lowered }: Incident): BudgetUpdate {
  const sets: string[] = [];
  const removes: string[] = [];
  const values: Record<string, number> = { from: fromMs, incidents, next: incidents + 1 };
  for (const [name, value] of Object.entries(loweredAttributes(lowered))) {
    if (value === undefined) removes.push(`#${name}`);
    else {
      sets.push(`#${name} = :${name}`);
      values[name] = value;
    }
  }
  const remove = removes.length === 0 ? '' : ` REMOVE ${removes.join(', ')}`;
  return {
    update: `SET #tat = :from, #incidents = :next, ${sets.join(', ')}${remove}`,
    condition: still(incidents),
    values,
  };
}

export const pauseUpdate = (atMs: number): BudgetUpdate => ({
  update: 'SET #pausedAt = :pausedAt',
  values: { pausedAt: atMs },
});

export const RESUME_UPDATE: BudgetUpdate = { update: 'REMOVE #pausedAt', values: {} };

export const resetUpdate = (fromMs: number): BudgetUpdate => ({
  update: `SET #tat = :from REMOVE ${THROTTLED} ADD #incidents :one`,
  values: { from: fromMs, one: 1 },
});

export const capUpdate = (rate: number): BudgetUpdate => ({
  update: 'SET #capRate = :capRate',
  values: { capRate: rate },
});

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
  const names = [...`${update} ${condition ?? ''}`.matchAll(/#\w+/g)].map(String);
  const given = Object.entries(values).map(([name, value]) => [`:${name}`, { N: String(value) }]);
  return {
    UpdateExpression: update,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...(given.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(given) }),
  };
}

/** The breaker that a budget's item holds; undefined if it is closed. */
export function breakerOf(item: Item): OpenBreaker | undefined {
  const { breakerSince: since, breakerProbeAt: probeAt, breakerCause: cause } = item ?? {};
  if (since?.N === undefined || probeAt?.N === undefined) return undefined;
  return { sinceMs: Number(since.N), cause: cause?.S ?? 'unknown', probeAtMs: Number(probeAt.N) };
}

type Item = Readonly<Record<string, AttributeValue>> | undefined;

/** The budget that an item holds; the empty budget if there is no item. */
export function budgetOf(item: Item): Budget {
  const number = (name: string) => (item?.[name]?.N === undefined ? undefined : Number(item[name].N));
  const count = (name: string) => number(name) ?? 0;
  return {
    tatMs: number('tat'),
    incidents: count('incidents'),
    lowered: loweredBy(number),
    pausedAtMs: number('pausedAt'),
    rate: number('rate'),
    breaker: breakerOf(item),
    longestWaitMs: number('longestWait'),
    longestWaitAtMs: number('longestWaitAt'),
    capRate: number('capRate'),
    tally: {
      granted: count('granted'),
      used: count('used'),
      wasted: count('wasted'),
      waitedMs: count('waitedMs'),
      throttled: count('throttled'),
    },
  };
}

function loweredBy(
  number: (name: keyof ReturnType<typeof loweredAttributes>) => number | undefined,
): Lowered | undefined {
  const [rate, atMs] = [number('loweredRate'), number('loweredAt')];
  if (rate === undefined || atMs === undefined) return undefined;
  return {
    rate,
    atMs,
    fromRate: number('loweredFrom'),
    refused: number('refused'),
    refusedAtMs: number('refusedAt'),
    expectedMs: number('expected'),
    probeMs: number('probeAt'),
    succeededMs: number('succeededAt'),
  };
}
