import type { LookedAt } from '../report.ts';

/** The survivors of the group `pace` that need no test, and why. */
export const pace: readonly LookedAt[] = [
  {
    file: 'lib/pace/budget.ts',
    code: '(atMs - leadMs - callMs) / intervalMs',
    to: ['(atMs - leadMs - callMs) * intervalMs'],
    why: 'a block grows by one slot at a time, so only whether any place is free again counts',
  },
  {
    file: 'lib/pace/effective-rate.ts',
    code: 'climbedMs <= 0 || level >= most',
    to: ['climbedMs < 0', 'level > most'],
    why: 'at the bound both branches say the same',
  },
  {
    file: 'lib/pace/fleet-breaker.ts',
    code: 'if (isClear(state))',
    to: ['false'],
    why: 'a look has the same result, and requests nothing either; this only saves a promise',
  },
  {
    file: 'lib/pace/fleet-breaker.ts',
    code: 'state.known === undefined && !isSuspected(state)',
    to: ['false', 'state.clock.now() - state.lookedMs < CLOSED_KNOWN_MS'],
    why: 'a look has the same result, and requests nothing either; this only saves a promise',
  },
  {
    file: 'lib/pace/reserve-block.ts',
    code: 'probeMs <= SOONEST_LOOK_MS',
    to: ['probeMs < SOONEST_LOOK_MS'],
    why: 'at the bound both branches say the same',
  },
  {
    file: 'lib/pace/reserve-block.ts',
    code: 'startMs === undefined ? 0',
    to: ['false'],
    why: 'what is computed from undefined exceeds no limit; the check is for the compiler',
  },
  {
    file: 'lib/pace/reserve-block.ts',
    code: 'if (tatMs === undefined) return undefined',
    to: ['false'],
    why: 'undefined is no line that is far ahead, so it is returned all the same; the check is for the compiler',
  },
  {
    file: 'lib/pace/reserve-block.ts',
    code: 'tatMs !== undefined && tatMs >= fromMs',
    to: ['true'],
    why: 'undefined is at least no number; the check is for the compiler',
  },
  {
    file: 'lib/pace/fleet-slots.ts',
    code: 'slots.length > calls ? undefined : slots.at(-1)',
    to: ['false', '+1'],
    why: 'it looks sooner than it must, and sleeps again',
  },
  {
    file: 'lib/pace/fleet-slots.ts',
    code: 'if (waitMs > 0) await clock.sleep(waitMs, signal);',
    to: ['true', 'waitMs >= 0'],
    why: 'a sleep of no time ends at once',
  },
  {
    file: 'lib/pace/fleet-slots.ts',
    code: 'if (wasted > 0) worker.tally.add({ wasted });',
    to: ['true', 'wasted >= 0'],
    why: 'it adds none',
  },
  {
    file: 'lib/pace/enqueue.ts',
    code: '{ once: true }',
    to: ['{}', 'false'],
    why: 'a signal is aborted once',
  },
  {
    file: 'lib/pace/fleet-pace.ts',
    code: 'steady: options.steady ?? (options.now === undefined',
    to: [
      'options.steady && (options.now === undefined ? () => performance.now() : undefined)',
      'false',
      '() => undefined',
    ],
    why: 'the clock of the process and its timers are for real time, which no test waits for: tests give their own',
  },
  {
    file: 'lib/pace/fleet-pace.ts',
    code: 'rest: options.sleep ?? rest',
    to: ['options.sleep && rest'],
    why: 'the clock of the process and its timers are for real time, which no test waits for: tests give their own',
  },
  {
    file: 'lib/pace/fleet-pace.ts',
    code: 'delay(ms, undefined, { ref: false })',
    to: ['true', '{}'],
    why: 'the clock of the process and its timers are for real time, which no test waits for: tests give their own',
  },
  {
    file: 'lib/pace/budget-view.ts',
    code: "result.kind === 'written' ?",
    to: ['true'],
    why: 'what is refused brings no budget',
  },
  {
    file: 'lib/pace/preparation.ts',
    code: 'started.get(request)?.()',
    to: ['started.get(request)()'],
    why: 'a call that acts was let through, so it has started; the check is for the compiler',
  },
];
