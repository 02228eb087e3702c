import type { BudgetItem, ChangeBudget } from './budget.ts';
import type { Clock } from './slots.ts';

/** Of workers with different tokens, one may be refused and the others not: it writes no more often than this. */
const MARK_EVERY_MS = 60_000;

/**
 * Records in the budget since when the platform refuses the token, until a call that began later is not refused: calls
 * may stop with nothing fixed. A write that fails is made after a later call.
 */
export function createTokenMark(
  item: Pick<BudgetItem, 'change'>,
  { now, steady = now }: Pick<Clock, 'now' | 'steady'>,
) {
  let sinceMs: number | undefined;
  /** When this worker heard that, and when it last wrote it: by a clock that is never set. */
  let heardMs = Number.NEGATIVE_INFINITY;
  let markedMs = Number.NEGATIVE_INFINITY;
  function hear(nextMs: number | undefined): void {
    if (nextMs !== sinceMs) heardMs = steady();
    sinceMs = nextMs;
  }
  function mark(nextMs: number | undefined): void {
    const before = sinceMs;
    hear(nextMs);
    if (nextMs !== undefined) markedMs = steady();
    const marked: ChangeBudget = (budget) =>
      (budget.tokenRefusedAtMs === undefined) === (nextMs === undefined)
        ? undefined
        : { ...budget, tokenRefusedAtMs: nextMs };
    item.change('record whether the token is refused in', marked).catch(() => {
      sinceMs = before;
      markedMs = Number.NEGATIVE_INFINITY;
    });
  }
  return {
    /** Reports how a call ended, in the breaker's words, and when it began by the clock that is never set. */
    ended(outcome: string, beganMs: number): void {
      const mayMark = sinceMs === undefined && steady() - markedMs >= MARK_EVERY_MS;
      if (outcome === 'refused token' && mayMark) mark(now());
      if (outcome === 'answered' && sinceMs !== undefined && beganMs >= heardMs) mark(undefined);
    },
    seen: hear,
  };
}
