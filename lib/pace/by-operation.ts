import { TableError } from '../table/index.ts';
import {
  type Budget,
  type BudgetView,
  lineFacts,
  lineSpacing,
  type OperationNews,
  withAnswered,
} from './budget.ts';
import type { Clock } from './clock.ts';
import type { Pace, RunOptions, Slot } from './pace.ts';
import { isAtLimit, isProbing } from './throttle-state.ts';

/*
 * The platform may refuse one operation while it accepts others, because that operation has its own limit or its
 * credits are used up. In that case the operation gets a separate line in front of the fleet's line. Its calls wait
 * there, so they take no concurrency slot and no slot of the line from other calls. If all operations are refused,
 * the fleet's line slows down instead.
 */

type ByOperationOptions = {
  readonly fleet: Pace;
  readonly view: BudgetView;
  readonly clock: Clock;
  /**
   * When this worker sent the last accepted call of each operation. The next reservation reports these times to
   * the fleet.
   */
  readonly answered: Map<string, number>;
  /** Opens the separate line of one operation. */
  readonly open: (operation: string) => OwnLine;
};

/**
 * If another operation was accepted at most this long ago, in milliseconds, not all operations are refused. The time of
 * some slots is added, since in a slow line calls are rare.
 */
const RECENT_MS = 10_000;
const RECENT_SLOTS = 8;

/** A separate line, and the last view of its budget. */
type OwnLine = { readonly line: Pace; readonly view: BudgetView };

type Own = { readonly line: Pace; readonly slot: Slot };
type Sent = { readonly operation: string; readonly own: Own | undefined };

/** Creates a pace in which an operation that the platform throttles on its own has a separate line. */
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
      const { throttleEpoch } = slot;
      const whose = await recordThrottling({ operation, own, view, clock, answered, throttleEpoch });
      if (whose === 'fleet') await fleet.throttled(slot, retryAfterMs);
      else if (own !== undefined) await own.line.throttled(own.slot, retryAfterMs);
      else if (whose === 'new')
        await lineOf(operation).line.throttled({ atMs: slot.atMs, waitedMs: 0 }, retryAfterMs);
    },
    counts: fleet.counts,
  };
}

type Throttled = Sent &
  Pick<ByOperationOptions, 'view' | 'clock' | 'answered'> & { readonly throttleEpoch: number | undefined };

/**
 * Records a 429 and returns which line it slows down: the `fleet`'s line; a `new` separate line, if other
 * operations are accepted; or the separate line that the operation already has (`known`). While the table is
 * unavailable, a call without a separate line slows down the fleet's line, which waits for the table.
 */
async function recordThrottling(throttled: Throttled): Promise<'fleet' | 'new' | 'known'> {
  const { operation, view, clock } = throttled;
  if (operation === '') return 'fleet';
  let whose: 'fleet' | 'new' | 'known' = 'fleet';
  const record = (budget: Budget): Budget | undefined => {
    const nowMs = clock.now();
    const before = withAnswered(budget, throttled.answered).operations ?? {};
    whose = decide(budget, before, { ...throttled, nowMs });
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
    return throttled.own === undefined ? 'fleet' : 'known';
  }
  return whose;
}

function decide(
  budget: Budget,
  operations: Readonly<Record<string, OperationNews>>,
  { operation, own, nowMs, throttleEpoch = budget.incidents }: Throttled & { readonly nowMs: number },
): 'fleet' | 'new' | 'known' {
  if (own !== undefined || operations[operation]?.aloneSinceMs !== undefined) return 'known';
  if (isProbing(budget.throttle) || throttleEpoch < budget.incidents) return 'fleet';
  // At the limit for all operations, different operations are refused in turn. At an operation's own limit, the same
  // operation is refused again.
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

/** Returns an operation to the fleet's line if it was refused shortly before all operations were refused. */
const joinedIfRefused =
  (nowMs: number) =>
  ([name, news]: [string, OperationNews]): [string, OperationNews] =>
    nowMs - (news.refusedAtMs ?? 0) <= RECENT_MS
      ? [name, { ...news, aloneSinceMs: undefined }]
      : [name, news];

/** Ends the separate line of an operation that has reached the fleet's rate again. */
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
  // If the write fails, the next call of the operation tries again.
  await view.change('join a line to', joined).catch(() => undefined);
}
