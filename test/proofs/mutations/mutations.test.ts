import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Event, progressOf } from './changes.ts';
import { groupNames, groups } from './groups.ts';

const begins = (change: string): Event => ({ kind: 'begins', test: 't', change, limitMs: 1 });
const ends = (change: string, outcome: 'passed' | 'failed' | 'looped'): Event => ({
  kind: 'ends',
  test: 't',
  change,
  outcome,
});

test('a change is noticed if a test fails, loops, or hangs twice with it', () => {
  const { noticed, runOf } = progressOf([
    ...[begins('a'), ends('a', 'failed'), begins('b'), ends('b', 'looped')],
    ...[begins('c'), ends('c', 'passed'), begins('d'), begins('e'), begins('e'), begins('f')],
    ...[begins('f'), ends('f', 'passed')],
  ]);

  expect([...noticed]).toEqual([
    ['a', 'Killed'],
    ['b', 'Timeout'],
    ['e', 'Timeout'],
  ]);
  expect(runOf('t', 'd')).toBe('hung');
});

test.each(groupNames)('the group %s names code and tests that exist', (name) => {
  const { mutate, tests } = groups[name];

  for (const glob of [...mutate, ...tests]) expect(globSync(glob), glob).not.toEqual([]);
});
