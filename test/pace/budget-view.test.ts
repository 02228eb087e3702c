import { expect, test } from 'vitest';
import { emptyBudget } from '../../lib/pace/budget.ts';
import { createMemoryBudget } from '../../lib/pace/budget-changes.ts';
import { createBudgetView } from '../../lib/pace/budget-view.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** A view whose requests take 40 ms each, or fail as often as `failures` says. */
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
  const view = createBudgetView({ ...memory, read: () => slow(memory.read) }, clock);
  const run = async <T>(act: () => Promise<T>): Promise<T> => {
    const [done] = await Promise.allSettled([act(), clock.run()]);
    if (done.status === 'rejected') throw done.reason;
    return done.value;
  };
  return { view, memory, clock, state, run, slow };
}

test('the budget is read once, and is as old as the request for it', async () => {
  const { view, run, state } = createView();

  const known = await run(view.known);
  const again = await run(view.known);

  expect([known, again, view.last()]).toEqual([emptyBudget, emptyBudget, emptyBudget]);
  expect(state.requests).toBe(1);
  expect([view.ageMs(), view.leadMs()]).toEqual([40, 40]);
});

test('a request that fails twice is thrown, and shows nothing', async () => {
  const { view, run, state } = createView({ failures: 2 });

  await expect(run(view.look)).rejects.toThrow('no response');
  expect(state.requests).toBe(2);
  expect(view.last()).toBeUndefined();
});

test('a write shows the budget, unless it is refused', async () => {
  const { view, memory, run, slow, clock } = createView();
  const incident = { incidents: 0, fromMs: 7_000, lowered: { rate: 7, atMs: 0 } };

  const written = await run(() => view.write(() => slow(() => memory.lower(incident))));
  await run(() => clock.sleep(100));
  const refused = await run(() => view.write(() => slow(() => memory.lower(incident))));

  expect([written.kind, refused.kind]).toEqual(['written', 'refused']);
  expect(view.last()).toMatchObject({ incidents: 1, tatMs: 7_000 });
  expect(view.ageMs()).toBe(180);
});
