import { sleep } from '../../../lib/base/async.ts';
import { createBudgetView, createUsageReporter } from '../../../lib/pace/budget.ts';
import { trackTime } from '../../../lib/pace/clock.ts';
import { createAcceptanceTracker, reserveBlock } from '../../../lib/pace/reserve-block.ts';
import { createTableBudget } from '../../../lib/pace/stored-budget.ts';
import { type ClientOptions, recorded } from './client.ts';

type Line = Parameters<typeof reserveBlock>[1];

const RATE = 20;

/** A worker that reserves slots of a fleet's line, timed by the machine's clock. */
export function paceClient(options: ClientOptions): () => Promise<void> {
  const { history: host, dice, table } = options;
  const clock = { now: Date.now, sleep };
  const line: Line = {
    rate: RATE,
    maxWaitMs: Number.POSITIVE_INFINITY,
    reserve: 'batch',
    clock,
    view: createBudgetView(createTableBudget({ table, host }), clock),
    usage: createUsageReporter(),
    acceptance: createAcceptanceTracker(clock),
  };
  return async () => {
    const waiting = 1 + dice.below(4);
    const request = {
      calledAt: trackTime(clock),
      signal: undefined,
      demand: () => ({ waiting, arrived: waiting }),
      forecast: () => ({ aheadMs: 0, lateMs: 10, followers: 0 }),
    };
    const outOf = ({ slots }: { readonly slots: readonly number[] }) => ({
      kind: 'reserved',
      from: Math.round(slots[0] ?? 0),
      to: Math.floor((slots.at(-1) ?? 0) + 1_000 / RATE),
    });
    await recorded(options, { op: 'reserve' }, () => reserveBlock(request, line), outOf);
  };
}
