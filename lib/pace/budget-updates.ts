import type { Attributes, ItemUpdate } from '../table/dynamo-item.ts';
import type { OpenBreaker } from './breaker.ts';
import type { Budget, Reservation } from './budget.ts';
import type { Lowered } from './lowered.ts';
import { noTally, type Tally } from './tally.ts';

/** The attributes that every reservation moves: no other change is on condition that they are as they were. */
const lineAttributes = ({ tatMs, rate, longestWaitMs, longestWaitAtMs }: Budget) => ({
  tat: tatMs,
  rate,
  longestWait: longestWaitMs,
  longestWaitAt: longestWaitAtMs,
});

const otherAttributes = ({ incidents, lowered, pausedAtMs, capRate, breaker }: Budget) => ({
  incidents: incidents === 0 ? undefined : incidents,
  loweredRate: lowered?.rate,
  loweredAt: lowered?.atMs,
  refused: lowered?.refused,
  refusedAt: lowered?.refusedAtMs,
  expected: lowered?.expectedMs,
  probeAt: lowered?.probeMs,
  succeededAt: lowered?.succeededMs,
  pausedAt: pausedAtMs,
  capRate,
  breakerSince: breaker?.sinceMs,
  breakerCause: breaker?.cause,
  breakerProbeAt: breaker?.probeAtMs,
});

/**
 * Advances the line where it is idle or busy, as the reservation says, and nobody has lowered the rate or paused it
 * since: one write without a read, whoever else reserves at the same time.
 */
export function reserveUpdate(reservation: Reservation): ItemUpdate {
  const { kind, incidents, rate, tally, longestWaitMs, fromMs, latestMs, blockMs } = reservation;
  const longest = longestWaitMs === undefined ? {} : { longestWait: longestWaitMs, longestWaitAt: fromMs };
  const isIdle = kind === 'idle';
  const sets = [isIdle ? '#tat = :to' : '#tat = #tat + :block', ...setsOf({ rate, ...longest })];
  const line = isIdle ? '(attribute_not_exists(#tat) OR #tat < :from)' : '#tat >= :from AND #tat <= :latest';
  const values = isIdle
    ? { to: fromMs + blockMs }
    : { block: blockMs, latest: Math.min(latestMs, Number.MAX_SAFE_INTEGER) };
  const was = { incidents: incidents === 0 ? undefined : incidents, pausedAt: undefined };
  return {
    update: `SET ${sets.join(', ')} ADD ${addsOf(tally)}`,
    condition: [line, ...conditionsOf(was)].join(' AND '),
    values: { ...values, from: fromMs, rate, ...longest, ...tally, ...valuesWas(was) },
  };
}

/** Makes of one budget the next, unless anything but the line has been changed since. */
export function changeUpdate(before: Budget, next: Budget): ItemUpdate {
  const was = otherAttributes(before);
  const old: Attributes = { ...was, ...lineAttributes(before) };
  const changed = Object.entries({ ...otherAttributes(next), ...lineAttributes(next) }).filter(
    ([name, value]) => value !== old[name],
  );
  const set = Object.fromEntries(changed.filter(([, value]) => value !== undefined));
  const removed = changed.filter(([, value]) => value === undefined).map(([name]) => `#${name}`);
  const tally = tallySince(before.tally, next.tally);
  const clauses = { SET: setsOf(set).join(', '), REMOVE: removed.join(', '), ADD: addsOf(tally) };
  return {
    update: Object.entries(clauses)
      .flatMap(([name, clause]) => (clause === '' ? [] : [`${name} ${clause}`]))
      .join(' '),
    condition: conditionsOf(was).join(' AND '),
    values: { ...set, ...tally, ...valuesWas(was) },
  };
}

const setsOf = (values: Attributes) => Object.keys(values).map((name) => `#${name} = :${name}`);

const addsOf = (tally: Partial<Tally>) =>
  Object.keys(tally)
    .map((name) => `#${name} :${name}`)
    .join(', ');

const conditionsOf = (was: Attributes) =>
  Object.entries(was).map(([name, value]) =>
    value === undefined ? `attribute_not_exists(#${name})` : `#${name} = :${name}Was`,
  );

const valuesWas = (was: Attributes) =>
  Object.fromEntries(Object.entries(was).map(([name, value]) => [`${name}Was`, value]));

function tallySince(before: Tally, next: Tally): Partial<Tally> {
  const names = Object.keys(noTally) as (keyof Tally)[];
  const more = names.map((name) => [name, next[name] - before[name]] as const);
  return Object.fromEntries(more.filter(([, count]) => count !== 0));
}

/** The budget that an item holds; the empty budget if there is no item. */
export function budgetOf(item: Attributes): Budget {
  const number = (name: string) => (item[name] === undefined ? undefined : Number(item[name]));
  const count = (name: string) => number(name) ?? 0;
  return {
    tatMs: number('tat'),
    incidents: count('incidents'),
    lowered: loweredBy(number),
    pausedAtMs: number('pausedAt'),
    rate: number('rate'),
    breaker: breakerBy(number, item['breakerCause']),
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

type NumberOf = (name: keyof ReturnType<typeof otherAttributes>) => number | undefined;

function loweredBy(number: NumberOf): Lowered | undefined {
  const [rate, atMs] = [number('loweredRate'), number('loweredAt')];
  if (rate === undefined || atMs === undefined) return undefined;
  return {
    rate,
    atMs,
    refused: number('refused'),
    refusedAtMs: number('refusedAt'),
    expectedMs: number('expected'),
    probeMs: number('probeAt'),
    succeededMs: number('succeededAt'),
  };
}

function breakerBy(number: NumberOf, cause: Attributes[string] = 'unknown'): OpenBreaker | undefined {
  const [sinceMs, probeAtMs] = [number('breakerSince'), number('breakerProbeAt')];
  return sinceMs === undefined || probeAtMs === undefined
    ? undefined
    : { sinceMs, cause: String(cause), probeAtMs };
}
