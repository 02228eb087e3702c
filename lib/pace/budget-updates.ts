import { parseOwnJson } from '../base/index.ts';
import type { Attributes, ItemUpdate } from '../table/dynamo-item.ts';
import { type Budget, emptyBudget, type Reservation } from './budget.ts';
import { noTally, type Tally } from './tally.ts';

/** The attributes that every reservation moves: no other change is on condition that they are as they were. */
const lineOf = ({ tatMs, rate, longestWaitMs, longestWaitAtMs }: Budget) => ({
  tatMs,
  rate,
  longestWaitMs,
  longestWaitAtMs,
});

/** What a reservation is conditional on, and, as one text, what only other changes are. Absent as long as it is empty. */
const stateOf = ({ incidents, pausedAtMs, lowered, capRate, breaker }: Budget) => ({
  incidents: incidents === 0 ? undefined : incidents,
  pausedAtMs,
  rest: textOf({ lowered, capRate, breaker }),
});

function textOf(rest: Pick<Budget, 'lowered' | 'capRate' | 'breaker'>): string | undefined {
  const text = JSON.stringify(rest);
  return text === '{}' ? undefined : text;
}

/**
 * Advances the line where it is idle or busy, as the reservation says, and nobody has lowered the rate or paused it
 * since: one write without a read, whoever else reserves at the same time.
 */
export function reserveUpdate(reservation: Reservation): ItemUpdate {
  const { kind, incidents, rate, tally, longestWaitMs, fromMs, latestMs, blockMs } = reservation;
  const longest = longestWaitMs === undefined ? {} : { longestWaitMs, longestWaitAtMs: fromMs };
  const isIdle = kind === 'idle';
  const sets = [isIdle ? '#tatMs = :to' : '#tatMs = #tatMs + :block', ...setsOf({ rate, ...longest })];
  const line = isIdle
    ? '(attribute_not_exists(#tatMs) OR #tatMs < :from)'
    : '#tatMs >= :from AND #tatMs <= :latest';
  const values = isIdle
    ? { to: fromMs + blockMs }
    : { block: blockMs, latest: Math.min(latestMs, Number.MAX_SAFE_INTEGER) };
  const was = { incidents: incidents === 0 ? undefined : incidents, pausedAtMs: undefined };
  return {
    update: `SET ${sets.join(', ')} ADD ${addsOf(tally)}`,
    condition: [line, ...conditionsOf(was)].join(' AND '),
    values: { ...values, from: fromMs, rate, ...longest, ...tally, ...valuesWas(was) },
  };
}

/** Makes of one budget the next, unless anything but the line has been changed since. */
export function changeUpdate(before: Budget, next: Budget): ItemUpdate {
  const was = stateOf(before);
  const old: Attributes = { ...was, ...lineOf(before) };
  const changed = Object.entries({ ...stateOf(next), ...lineOf(next) }).filter(
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

const COUNTS = Object.keys(noTally) as readonly (keyof Tally)[];

function tallySince(before: Tally, next: Tally): Partial<Tally> {
  const more = COUNTS.map((name) => [name, next[name] - before[name]] as const);
  return Object.fromEntries(more.filter(([, count]) => count !== 0));
}

/** The budget that an item holds; the empty budget if there is no item. */
export function budgetOf({ rest, ...numbers }: Attributes): Budget {
  const counts = COUNTS.map((name) => [name, numbers[name] ?? 0]);
  const named = Object.keys({ ...lineOf(emptyBudget), ...stateOf(emptyBudget) }).flatMap((name) =>
    numbers[name] === undefined ? [] : [[name, numbers[name]]],
  );
  return {
    ...emptyBudget,
    ...Object.fromEntries(named),
    ...(rest === undefined ? {} : (parseOwnJson(String(rest)) as Partial<Budget>)),
    tally: Object.fromEntries(counts),
  };
}
