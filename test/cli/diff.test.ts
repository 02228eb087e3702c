import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { changesKey } from '../../lib/snapshot/keys.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { storeOfEach } from '../store/store-of-each.ts';
import { runCommand } from './run-command.ts';

const store = storeOfEach();

const diff = (...argv: readonly string[]) =>
  runCommand(['diff', ...argv], { SYNC_STORE: './unused' }, '', { openStore: async () => store });

const line = (id: number | bigint, name: string) => `{"id":${id}, "name":"${name}"}`;

async function publishThree() {
  await publishLines(store, { run: monday, lines: [line(1, 'one')] });
  await publishLines(store, { run: tuesday, lines: [line(1, 'uno'), line(2, 'two')] });
  await publishLines(store, { run: wednesday, lines: [line(2, 'two'), line(3, 'three')] });
}

test('without arguments, diff compares the last published run with the previous one', async () => {
  await publishThree();

  const { code, out } = await diff('calculations');

  expect(code).toBe(0);
  expect(out).toBe(
    [
      `calculations: ${tuesday.id} → ${wednesday.id}: 1 added, 1 removed, 0 changed`,
      '  removed uno (1)',
      '  added three (3)',
    ].join('\n'),
  );
});

test('without arguments, diff compares the last run with the run that its manifest was compared with', async () => {
  await publishThree();
  const changes = { against: monday.id, added: 0, removed: 0, changed: 1, key: 'changes/gone' };
  await publishLines(store, { run: wednesday, lines: [line(1, 'eins')], manifest: { changes } });

  const { out } = await diff('calculations');

  expect(out).toBe(
    [
      `calculations: ${monday.id} → ${wednesday.id}: 0 added, 0 removed, 1 changed`,
      '  changed eins (1)',
      '    name: "one" → "eins"',
    ].join('\n'),
  );
});

test('--json prints one value with the exact digits of the records', async () => {
  const id = 9007199254740993n;
  await publishLines(store, { run: monday, lines: [`{"id":${id},"a":1.0}`] });
  await publishLines(store, { run: tuesday, lines: [`{"id":${id},"a":2.50}`] });

  const { code, out } = await diff('calculations', '--json');

  expect(code).toBe(0);
  expect(out).toContain(`"before":{"id":${id},"a":1.0},"after":{"id":${id},"a":2.50}`);
  expect(JSON.parse(out)).toMatchObject({
    source: 'calculations',
    old: monday.id,
    new: tuesday.id,
    added: 0,
    removed: 0,
    changed: 1,
    changes: [{ change: 'changed', key: String(id), fields: ['a'] }],
  });
});

test('--json without a source prints a list with every published source', async () => {
  await publishThree();
  await publishLines(store, { place: 'data-files', run: monday, lines: ['{"dataFileId":1}'] });

  const { out } = await diff('--json');

  expect(JSON.parse(out)).toMatchObject([
    { source: 'calculations', added: 1, removed: 1, changed: 0 },
    { source: 'data-files', old: null, new: monday.id, added: null, changes: [] },
  ]);
});

test('--limit limits the list, but not the count', async () => {
  await publishThree();

  const people = await diff('calculations', '--limit', '1');
  const machines = await diff('calculations', '--limit', '1', '--json');

  expect(people.out).toContain('1 added, 1 removed');
  expect(people.out).toContain('\n  and 1 more; use --limit to list more');
  expect(JSON.parse(machines.out)).toMatchObject({ added: 1, removed: 1, changes: [{ key: '1' }] });
});

test('a narrowed snapshot is compared with runs of the same place', async () => {
  await publishLines(store, { place: 'files.reports', run: monday, lines: [] });
  await publishLines(store, {
    place: 'files.reports',
    run: tuesday,
    lines: ['{"_filesetId":"s","id":"f","path":"/a"}'],
  });

  const { out } = await diff('files.reports');

  expect(out).toContain('1 added, 0 removed, 0 changed\n  added /a (s/f)');
});

test('control characters in text from the platform do not reach the terminal', async () => {
  await publishLines(store, { run: monday, lines: [] });
  await publishLines(store, {
    run: tuesday,
    lines: ['{"id":1,"name":"\\u001b[2Jgone\\nadded fake (9)\\u202e"}'],
  });

  const { out } = await diff('calculations');

  expect(out.split('\n').slice(1)).toEqual(['  added gone added fake (9)  (1)']);
});

test.each([[[]], [['--since', '2026-11-17']]])(
  '%j exits 0 if a place has a single run, which has nothing to be compared with',
  async (flags) => {
    await publishLines(store, { run: wednesday, lines: [line(1, 'a')] });

    expect(await diff('calculations', ...flags)).toMatchObject({
      code: 0,
      out: `calculations: ${wednesday.id} is the first published run; there is nothing to compare it with`,
    });
  },
);

test('diff exits 1 if nothing has been published', async () => {
  const one = await diff('cards');
  const all = await diff();

  expect(one).toEqual({ code: 1, out: '', err: `cards: nothing has been published in memory` });
  expect(all.code).toBe(1);
});

test.each([
  ['older', ['yesterday']],
  ['newer', [monday.id, 'yesterday']],
])('an unknown %s run causes exit code 2, and the message names the published runs', async (_which, runs) => {
  await publishThree();

  expect(await diff('calculations', ...runs)).toMatchObject({
    code: 2,
    err: `platform-sync: calculations: expected a published run (${wednesday.id}, ${tuesday.id}, ${monday.id}), got yesterday`,
  });
});

describe('--since compares with the run that was published at that time:', () => {
  afterEach(() => void vi.useRealTimers());

  test.each([
    ['2026-11-17T09:00:00Z', tuesday.id],
    ['2026-11-17', monday.id],
    ['1d', tuesday.id],
    ['48h', monday.id],
    ['1w', monday.id],
    ['2026-11-19', wednesday.id],
  ])('%s', async (since, old) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-19T08:00:00Z') });
    await publishThree();

    const { code, out } = await diff('calculations', '--since', since, '--json');

    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ old, new: wednesday.id });
  });
});

describe('a broken manifest', () => {
  test('of one source is named, does not stop the comparison of the other sources, and causes exit code 3', async () => {
    await publishThree();
    await publishLines(store, { place: 'cards', run: monday, lines: [] });
    await store.put('cards/dt=2026-11-16/run=20261116T090000Z-aaaaaa/_manifest.json', Buffer.from('{'));

    const { code, out, err } = await diff();
    const machines = await diff('--json');

    expect([code, machines.code]).toEqual([3, 3]);
    expect(out).toContain(`calculations: ${tuesday.id} → ${wednesday.id}`);
    expect(JSON.parse(machines.out)).toHaveLength(1);
    expect(err).toContain(
      'cards: cards/dt=2026-11-16/run=20261116T090000Z-aaaaaa/_manifest.json is not what',
    );
    expect(err).toContain('to see which runs are sound: platform-sync runs cards');
  });

  test.each([
    ['damaged', () => store.put(MANIFEST_OF_MONDAY, Buffer.from('{'))],
    ['missing', () => store.delete(MANIFEST_OF_MONDAY)],
  ])('of the previous run (%s) does not hide the stored changes', async (_, breaks) => {
    await publishLines(store, { run: monday });
    const key = changesKey('calculations', tuesday, monday.id, '0');
    const changes = { against: monday.id, added: 1, removed: 0, changed: 0, key };
    await publishLines(store, { run: tuesday, lines: [line(1, 'one')], manifest: { changes } });
    const change = `{"change":"added","key":"1","after":${line(1, 'one')}}\n`;
    await store.put(key, gzipSync(change));
    await breaks();

    const { code, out } = await diff('calculations');

    expect(code).toBe(0);
    expect(out).toBe(
      `calculations: ${monday.id} → ${tuesday.id}: 1 added, 0 removed, 0 changed\n  added one (1)`,
    );
  });
});

const MANIFEST_OF_MONDAY = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/_manifest.json';
