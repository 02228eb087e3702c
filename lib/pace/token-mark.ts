import type { BudgetItem, ChangeBudget } from './budget.ts';

/** Of workers with different tokens, one may be refused and the others not: it writes no more often than this. */
const MARK_EVERY_MS = 60_000;

/**
 * Records in the budget since when the platform refuses the token, until a call that began later is not refused: calls
 * may stop with nothing fixed. A write that fails is made after a later call.
 */
export function createTokenMark(item: Pick<BudgetItem, 'change'>, now: () => number) {
  let sinceMs: number | undefined;
  let markedMs = Number.NEGATIVE_INFINITY;
  function mark(nextMs: number | undefined): void {
    const before = sinceMs;
    sinceMs = nextMs;
    markedMs = nextMs ?? markedMs;
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
    /** Reports how a call ended, in the breaker's words, and when it began. */
    ended(outcome: string, beganMs: number): void {
      const mayMark = sinceMs === undefined && now() - markedMs >= MARK_EVERY_MS;
      if (outcome === 'refused token' && mayMark) mark(now());
      if (outcome === 'answered' && sinceMs !== undefined && beganMs > sinceMs) mark(undefined);
    },
    seen(tokenRefusedAtMs: number | undefined): void {
      sinceMs = tokenRefusedAtMs;
    },
  };
}
