import { expect, test } from 'vitest';
import { type Change, type Event, progressOf, sampleOf } from './changes.ts';

const begins = (change: string): Event => ({ kind: 'begins', test: 't', change, limitMs: 1 });
const ends = (change: string, outcome: 'passed' | 'failed' | 'looped'): Event => ({
  kind: 'ends',
  test: 't',
  change,
  outcome,
});

test('a change is noticed if a test failed with it, or reached it a hundred times as often', () => {
  const { noticed, reached, runOf } = progressOf([
    ...[begins('a'), ends('a', 'failed')],
    ...[begins('b'), ends('b', 'looped')],
    ...[begins('c'), ends('c', 'passed')],
  ]);

  expect([...noticed]).toEqual([
    ['a', 'Killed'],
    ['b', 'Timeout'],
  ]);
  expect([...reached]).toEqual(['a', 'b', 'c']);
  expect(runOf('t', 'c')).toBe('passed');
  expect(runOf('t', 'd')).toBeUndefined();
});

test('a run that hung counts only if it hangs again, in a process that no other change has touched', () => {
  const once = progressOf([begins('a')]);
  const passedThen = progressOf([begins('a'), begins('a'), ends('a', 'passed')]);
  const twice = progressOf([begins('a'), begins('a')]);

  expect(once.runOf('t', 'a')).toBe('hung');
  expect([...once.noticed, ...passedThen.noticed]).toEqual([]);
  expect([...twice.noticed]).toEqual([['a', 'Timeout']]);
});

test('a sample is the same for the same seed, and another for another', () => {
  const changes = Array.from(
    { length: 50 },
    (_, at): Change => ({ id: `${at}`, file: 'lib/a.ts', line: at, from: 'true', to: 'false' }),
  );
  const lines = (seed: string) => sampleOf(changes, { count: 5, seed }).map(({ line }) => line);

  expect(new Set(lines('a')).size).toBe(5);
  expect(lines('a')).toEqual(lines('a'));
  expect(lines('b')).not.toEqual(lines('a'));
});
