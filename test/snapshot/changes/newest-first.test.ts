import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newestFirst } from '../../../lib/snapshot/changes/newest-first.ts';

const begun = (run: string, hour: number, ...after: readonly string[]) => ({
  run,
  startedAt: `2026-11-16T${String(hour).padStart(2, '0')}:00:00.000Z`,
  after,
});

const ofRuns = (latest: string, ...runs: readonly ReturnType<typeof begun>[]) => newestFirst(runs, latest);

test('a run comes before the one that it came after, whatever the clocks said', () => {
  const order = ofRuns('c', begun('a', 20), begun('b', 21, 'a'), begun('c', 9, 'b'));

  expect(order).toEqual(['c', 'b', 'a']);
});

test('of two that began after the same run, the one that replaced the other is newer', () => {
  const order = ofRuns('c', begun('a', 9), begun('b', 11, 'a'), begun('c', 10, 'b', 'a'));

  expect(order).toEqual(['c', 'b', 'a']);
});

test('where a run between was removed, the next is the one that started last', () => {
  const order = ofRuns(
    '20261116T080000Z-eeeeee',
    begun('a', 10),
    begun('b', 11, 'a'),
    begun('20261116T080000Z-eeeeee', 8, '20261116T120000Z-dddddd'),
  );

  expect(order).toEqual(['20261116T080000Z-eeeeee', 'b', 'a']);
});

test('a run that began after the latest one comes before it unless it was published', () => {
  const runs = [begun('a', 9), begun('b', 10, 'a'), begun('c', 11, 'b')];

  expect(newestFirst(runs, 'b', (run) => run !== 'c')).toEqual(['c', 'b', 'a']);
  expect(newestFirst(runs, 'b')).toEqual(['b', 'c', 'a']);
});

test('a run that was published again by force is named once, and leads to no circle', () => {
  const order = ofRuns('a', begun('z', 8), begun('a', 9, 'b', 'z'), begun('b', 10, 'a', 'a'));

  expect(order).toEqual(['a', 'b', 'z']);
});

test('the order depends on nothing but the runs, and names each once', () => {
  const names = 'abcdefgh'.split('');
  const run = fc.record({ hour: fc.nat(3), after: fc.array(fc.constantFrom(...names), { maxLength: 2 }) });
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 8 }), fc.nat(), (some, by) => {
      const runs = some.map(({ hour, after }, at) => begun(names[at] ?? '', hour, ...after));
      const turned = [...runs.slice(by % runs.length), ...runs.slice(0, by % runs.length)];

      const order = newestFirst(runs, 'a');

      expect(newestFirst(turned, 'a')).toEqual(order);
      expect(order.toSorted()).toEqual(runs.map((each) => each.run));
      expect(order[0]).toBe('a');
    }),
  );
});
