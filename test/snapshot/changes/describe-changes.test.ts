import { expect, test } from 'vitest';
import { describeChanges } from '../../../lib/snapshot/changes/change.ts';

test('a change shows the record’s name and key, and the old and new value of each field', () => {
  const lines = describeChanges('calculations', [
    { change: 'added', key: '1', after: '{"id":1,"name":"Revenue"}' },
    { change: 'removed', key: '2', before: '{"id":2,"name":null}' },
    {
      change: 'changed',
      key: '9007199254740993',
      before: '{"id":9007199254740993,"name":"Cost","owner":9007199254740995}',
      after: '{"id":9007199254740993,"name":"Costs","locked":true}',
      fields: ['locked', 'name', 'owner'],
    },
  ]);

  expect(lines).toEqual([
    'added Revenue (1)',
    'removed (2)',
    'changed Costs (9007199254740993)',
    '  locked: (absent) → true',
    '  name: "Cost" → "Costs"',
    '  owner: 9007199254740995 → (absent)',
  ]);
});

test('files are shown by their path and cards by their title', () => {
  const file = { change: 'added', key: 's/f', after: '{"path":"/a/b.csv","name":"b.csv"}' } as const;
  const card = { change: 'added', key: 'd/1', after: '{"title":"Sales"}' } as const;

  expect(describeChanges('files', [file])).toEqual(['added /a/b.csv (s/f)']);
  expect(describeChanges('cards', [card])).toEqual(['added Sales (d/1)']);
});

test('long values are shown from shortly before the point where they differ', () => {
  const before = `{"name":"n","expression":"${'a'.repeat(200)}OLD${'b'.repeat(200)}"}`;
  const after = `{"name":"n","expression":"${'a'.repeat(200)}NEW${'b'.repeat(200)}"}`;

  const [, field] = describeChanges('calculations', [
    { change: 'changed', key: '1', before, after, fields: ['expression'] },
  ]);

  expect(field).toBe(
    `  expression: …${'a'.repeat(12)}OLD${'b'.repeat(44)}… → …${'a'.repeat(12)}NEW${'b'.repeat(44)}…`,
  );
});

test('if one value is short and the other long, the long one is shortened', () => {
  const record = (text: string) => JSON.stringify({ name: text });

  const [, line] = describeChanges('calculations', [
    { change: 'changed', key: '1', before: record('b'), after: record('a'.repeat(100)), fields: ['name'] },
  ]);

  expect(line).toBe(`  name: "b" → "${'a'.repeat(58)}…`);
});

test('names, keys, values and numbers of fields of any size are shown in a few words', () => {
  const long = 'é🙂'.repeat(100_000);
  const names = Array.from({ length: 500 }, (_, at) => `field ${at}`);
  const record = (text: string) =>
    JSON.stringify({ name: `${long}${text}`, ...Object.fromEntries(names.map((name) => [name, text])) });

  const lines = describeChanges('calculations', [
    {
      change: 'changed',
      key: long,
      before: record('a'),
      after: record('b'),
      fields: ['name', long, ...names],
    },
  ]);

  expect(lines).toHaveLength(102);
  expect(lines.at(-1)).toBe('  and 402 more fields');
  expect(lines[1]).toBe(`  name: …${'é🙂'.repeat(6)}a" → …${'é🙂'.repeat(6)}b"`);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(400);
});

test('a value is not cut between the two halves of a surrogate pair', () => {
  const record = (text: string) => JSON.stringify({ name: `${'a'.repeat(100)}${text}` });

  const [, line] = describeChanges('calculations', [
    { change: 'changed', key: '1', before: record('🙂'), after: record('🙃'), fields: ['name'] },
  ]);

  expect(line).toBe(`  name: …${'a'.repeat(12)}🙂" → …${'a'.repeat(12)}🙃"`);
});
