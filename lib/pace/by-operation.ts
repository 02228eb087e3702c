import { TableError } from '../table/index.ts';
import {
  type Budget,
  type BudgetItem,
  type BudgetView,
  effectiveRate,
  lineFacts,
  lineSpacing,
  type OperationNews,
  withAnswered,
} from './budget.ts';
import type { Pace, RunOptions, Slot } from './pace.ts';
import type { Clock } from './slots.ts';
import { isAtLimit, isProbing } from './throttle-state.ts';

/*
 * The platform may refuse one operation while it accepts others: its own limit, or credits that are used up. Then that
 * operation has a line of its own, in front of the fleet's: its calls wait there, and take no place and no slot of the
 * others. Where all operations are refused, it is the fleet's line that slows down.
 */

type ByOperationOptions = {
  readonly fleet: Pace;
  readonly view: BudgetView;
  readonly clock: Clock;
  /** When the last call of each operation left that this process saw accepted; the fleet hears of it with the next slots. */
  readonly answered: Map<string, number>;
  /** The line of one operation. */
  readonly open: (operation: string) => OwnLine;
};

/** How recently another operation must have been accepted to show that not all are refused: of a slow line, so many slots. */
const RECENT_MS = 10_000;
const RECENT_SLOTS = 8;

/** A line, and what is last known of its budget. */
type OwnLine = { readonly line: Pace; readonly view: BudgetView };

type Own = { readonly line: Pace; readonly slot: Slot };
type Sent = { readonly operation: string; readonly own: Own | undefined };

/** A pace in which an operation that is refused alone waits alone. */
export function byOperation({ fleet, view, clock, answered, open }: ByOperationOptions): Pace {
  const lines = new Map<string, OwnLine>();
  const sent = new WeakMap<Slot, Sent>();
  const lineOf = (operation: string) => {
    const line = lines.get(operation) ?? open(operation);
    lines.set(operation, line);
    return line;
  };
  const isAlone = (operation: string) => view.last()?.operations?.[operation]?.aloneSinceMs !== undefined;
  const send = <T>(call: (slot: Slot) => Promise<T>, options: RunOptions<T>, own?: Own) => {
    const { operation = '', isAccepted = () => true } = options;
    return fleet.run(async (slot) => {
      sent.set(slot, { operation, own });
      const leftMs = clock.now();
      const result = await call(slot);
      if (operation !== '' && isAccepted(result)) answered.set(operation, leftMs);
      return result;
    }, options);
  };

  return {
    async run(call, options = {}) {
      const { operation = '', prepare: _, ...others } = options;
      if (!isAlone(operation)) return send(call, options);
      const { line, view: own } = lineOf(operation);
      const result = await line.run((slot) => send(call, options, { line, slot }), others);
      const isFull = line.counts().effectiveRate >= fleet.counts().effectiveRate;
      if (isFull && !isProbing(own.last()?.throttle)) await join(view, operation);
      return result;
    },
    async throttled(slot, retryAfterMs) {
      const { operation = '', own } = sent.get(slot) ?? {};
      const whose =
        operation === ''
          ? 'fleet'
          : await whoseRefusal({ operation, own, view, clock, answered, incidents: slot.incidents });
      if (whose === 'fleet') await fleet.throttled(slot, retryAfterMs);
      else if (own !== undefined) await own.line.throttled(own.slot, retryAfterMs);
      else if (whose === 'new')
        await lineOf(operation).line.throttled({ atMs: slot.atMs, waitedMs: 0 }, retryAfterMs);
    },
    counts: fleet.counts,
  };
}

type Refused = Sent &
  Pick<ByOperationOptions, 'view' | 'clock' | 'answered'> & { readonly incidents: number | undefined };

/**
 * Records a 429. `new`: of an operation that has a line of its own from now on, since others are accepted. `known`: it
 * had one. Where the table does not respond, it is the fleet's, which waits for the table.
 */
async function whoseRefusal(refused: Refused): Promise<'fleet' | 'new' | 'known'> {
  const { operation, view, clock } = refused;
  let whose: 'fleet' | 'new' | 'known' = 'fleet';
  const record = (budget: Budget): Budget | undefined => {
    const nowMs = clock.now();
    const before = withAnswered(budget, refused.answered).operations ?? {};
    whose = decide(budget, before, { ...refused, nowMs });
    const aloneSinceMs = whose === 'fleet' ? undefined : (before[operation]?.aloneSinceMs ?? nowMs);
    const others =
      whose === 'fleet' ? Object.entries(before).map(joinedIfRefused(nowMs)) : Object.entries(before);
    return {
      ...budget,
      operations: {
        ...Object.fromEntries(others),
        [operation]: { ...before[operation], refusedAtMs: nowMs, aloneSinceMs },
      },
    };
  };
  try {
    await view.change('record a 429 in', record);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return refused.own === undefined ? 'fleet' : 'known';
  }
  return whose;
}

function decide(
  budget: Budget,
  operations: Readonly<Record<string, OperationNews>>,
  { operation, own, nowMs, ...refused }: Refused & { readonly nowMs: number },
): 'fleet' | 'new' | 'known' {
  const { incidents } = budget;
  const { incidents: since = incidents } = refused;
  if (own !== undefined || operations[operation]?.aloneSinceMs !== undefined) return 'known';
  if (isProbing(budget.throttle) || since < incidents) return 'fleet';
  // A known limit of all refuses one after the other, one operation's own the same again.
  const [last] = Object.entries(operations).toSorted(([, a], [, b]) => refusedAt(b) - refusedAt(a));
  const rate = budget.rate ?? 1;
  const facts = lineFacts(rate, budget, nowMs);
  const recentMs = RECENT_MS + RECENT_SLOTS * lineSpacing(rate, budget, nowMs).intervalMs;
  if (isAtLimit(budget.throttle, facts) && last?.[0] !== operation) return 'fleet';
  const isAccepted = ([name, { answeredAtMs = 0, refusedAtMs = 0 }]: [string, OperationNews]) =>
    name !== operation && nowMs - answeredAtMs <= recentMs && answeredAtMs > refusedAtMs;
  return Object.entries(operations).some(isAccepted) ? 'new' : 'fleet';
}

const refusedAt = ({ refusedAtMs = 0 }: OperationNews): number => refusedAtMs;

/** An operation that was refused a moment ago, before all were, was not refused alone. */
const joinedIfRefused =
  (nowMs: number) =>
  ([name, news]: [string, OperationNews]): [string, OperationNews] =>
    nowMs - (news.refusedAtMs ?? 0) <= RECENT_MS
      ? [name, { ...news, aloneSinceMs: undefined }]
      : [name, news];

/** The line of its own has come back to the rate of the fleet: its calls go with the others again. */
async function join(view: BudgetView, operation: string): Promise<void> {
  const joined = (budget: Budget): Budget | undefined =>
    budget.operations?.[operation]?.aloneSinceMs === undefined
      ? undefined
      : {
          ...budget,
          operations: {
            ...budget.operations,
            [operation]: { ...budget.operations[operation], aloneSinceMs: undefined },
          },
        };
  // The next call tries it again.
  await view.change('join a line to', joined).catch(() => undefined);
}

/** An operation that is throttled alone, as its own line has it. */
export type ThrottledOperation = {
  readonly operation: string;
  readonly sinceMs: number;
  readonly refusedAtMs: number;
  readonly effectiveRate: number;
  /** One call leaves at a time until one succeeds. */
  readonly isProbing: boolean;
};

/** The operations that are throttled alone, for senders that are configured with `rate`. Throws what the item throws. */
export function throttledOperations(
  { operations = {} }: Budget,
  { of }: Pick<BudgetItem, 'of'>,
  { rate, nowMs }: { readonly rate: number; readonly nowMs: number },
): Promise<readonly ThrottledOperation[]> {
  const alone = Object.entries(operations).flatMap(([operation, { aloneSinceMs, refusedAtMs }]) =>
    aloneSinceMs === undefined ? [] : [{ operation, sinceMs: aloneSinceMs, refusedAtMs: refusedAtMs ?? 0 }],
  );
  return Promise.all(
    alone.map(async (each) => {
      const own = await of?.(each.operation).read();
      return {
        ...each,
        effectiveRate: own === undefined ? rate : effectiveRate(own.rate ?? rate, own, nowMs),
        isProbing: isProbing(own?.throttle),
      };
    }),
  );
}

/** Such an operation in words. */
export const throttledWords = ({
  operation,
  sinceMs,
  isProbing,
  effectiveRate,
}: ThrottledOperation): string =>
  `${operation}: throttled alone since ${new Date(sinceMs).toISOString()}: ${isProbing ? 'one call at a time until one succeeds' : `${Number(effectiveRate.toFixed(3))} a second`}`;
