import { expect, test } from 'vitest';
import { createBudgetView, createMemoryBudget, emptyBudget } from '../../lib/pace/budget.ts';
import { learnedTo } from './throttled.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** A view of the budget whose requests take 40 ms each. The first `failures` requests fail. */
function createView({ failures = 0 } = {}) {
  const clock = createVirtualClock();
  const memory = createMemoryBudget();
  const state = { failures, requests: 0 };
  const slow = async <T>(act: () => Promise<T>): Promise<T> => {
    state.requests += 1;
    await clock.sleep(40);
    if (state.requests <= state.failures) throw new Error('no response');
    return act();
  };
  const view = createBudgetView(
    {
      read: () => slow(memory.read),
      async change(act, next) {
        await clock.sleep(100);
        const changed = next(await memory.read());
        return changed && slow(() => memory.change(act, () => changed));
      },
    },
    clock,
  );
  const run = <T>(act: () => Promise<T>): Promise<T> => clock.finish(act());
  return { view, clock, state, run };
}

test('the budget is read once, and counts as read when the request was sent', async () => {
  const { view, run, state } = createView();

  const known = await run(view.known);
  const again = await run(view.known);

  expect([known, again, view.last()]).toEqual([emptyBudget, emptyBudget, emptyBudget]);
  expect(state.requests).toBe(1);
  expect([view.ageMs(), view.leadMs()]).toEqual([40, 40]);
});

test('a failed request throws, and does not update the view of the budget', async () => {
  const { view, run } = createView({ failures: 1 });

  await expect(run(view.read)).rejects.toThrow('no response');
  expect(view.last()).toBeUndefined();
});

test('a change updates the view of the budget with the stored state, even if the change is refused', async () => {
  const { view, run } = createView();

  const changed = await run(() => view.change('set', (budget) => ({ ...budget, incidents: 1 })));
  const ages = [view.ageMs(), view.leadMs()];
  const refused = await run(() => view.change('set', () => undefined));

  expect([changed?.incidents, refused]).toEqual([1, undefined]);
  expect(view.last()).toMatchObject({ incidents: 1 });
  expect([...ages, view.ageMs(), view.leadMs()]).toEqual([40, 40, 0, 40]);
});

test('an unrelated change does not move the end of the line, even if it is implausibly late by this clock', async () => {
  const aMonthAheadMs = 2_678_400_000;
  const before = { ...emptyBudget, tatMs: aMonthAheadMs, throttle: learnedTo(5, aMonthAheadMs) };
  const item = createMemoryBudget(before);
  const view = createBudgetView(item, createVirtualClock());
  const operations = { score: { refusedAtMs: 0 } };

  await view.change('record a 429 in', (budget) => ({ ...budget, operations }));

  expect(await item.read()).toEqual({ ...before, operations });
});
