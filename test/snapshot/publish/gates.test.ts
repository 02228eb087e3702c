import { describe, expect, test } from 'vitest';
import type { Manifest } from '../../../lib/snapshot/manifest.ts';
import {
  type Gates,
  isSamePlatform,
  isSuperseded,
  minShareOf,
  readGates,
  refusals as refusalsIn,
} from '../../../lib/snapshot/publish/gates.ts';
import { publishedManifest } from '../published-manifest.ts';

const NOW = '2026-11-21T09:00:00.000Z';

const refusals = (
  judged: Parameters<typeof refusalsIn>[0],
  last: Manifest | undefined,
  isBroken = false,
  gates: Gates = {},
) =>
  refusalsIn(judged, last, {
    isBroken,
    nowMs: Date.parse(NOW),
    minShare: minShareOf(gates, 'calculations'),
  });

const run: Parameters<typeof refusals>[0] = {
  startedAt: NOW,
  records: 100,
  fields: { id: ['number'], name: ['string'] },
  selection: {},
  platform: 'acme.example.com',
  consistency: 'proved',
  scanRefused: [],
};

describe('whether a run is older than the published run of its place:', () => {
  const keyOf = (id: string) => `calculations/dt=2026-11-16/run=${id}/_manifest.json`;
  const [early, late] = ['2026-11-20T09:00:00.000Z', '2026-12-20T09:00:00.000Z'];
  const earlier = [keyOf('a'), keyOf('b'), keyOf('twice'), keyOf('c'), keyOf('twice')];

  test.each([
    ['began after the published one, with a clock behind', 'latest', early, 'a', false],
    ['began after a later publication than it, with a clock behind', 'b', early, 'a', false],
    ['began after an earlier publication than it, with a clock ahead', 'a', late, 'b', true],
    ['began after the same publication, later by the clock', 'a', late, 'a', false],
    ['began after the same publication, earlier by the clock', 'a', early, 'a', true],
    ['began before anything was published, with a clock ahead', null, late, 'a', true],
    [
      'began after a publication, and the published one before any, with a clock behind',
      'a',
      early,
      null,
      false,
    ],
    ['began when latest.json was unreadable, later by the clock', '', late, 'b', false],
    ['began after a run that was pruned, earlier by the clock', 'pruned', early, 'b', true],
    ['began after one of two publications of a run, earlier by the clock', 'twice', early, 'b', true],
  ])('one that %s', (_, begunAfter, startedAt, latestAfter, isLate) => {
    const latest = { run: 'latest', startedAt: NOW, begunAfter: latestAfter, earlier };

    expect(isSuperseded({ run: 'other', startedAt, begunAfter }, latest)).toBe(isLate);
  });
});

test('a first run that is proved is published', () => {
  expect(refusals(run, undefined)).toEqual([]);
});

test('a first run without records is published', () => {
  expect(refusals({ ...run, records: 0 }, undefined)).toEqual([]);
});

test.each([
  ['four minutes', '2026-11-21T09:04:00.000Z', []],
  ['just five minutes', '2026-11-21T09:05:00.000Z', []],
  ['six minutes', '2026-11-21T09:06:00.000Z', ['future']],
])(
  'a run that started %s ahead of this machine’s clock is refused or not by the clock gate',
  (_name, startedAt, reasons) => {
    expect(refusals({ ...run, startedAt }, undefined)).toEqual(reasons);
  },
);

test('a run is refused while the published run is broken', () => {
  expect(refusals(run, undefined, true)).toEqual(['broken']);
});

test('a run without records is published after one without', () => {
  expect(refusals({ ...run, records: 0 }, publishedManifest({ records: 0 }))).not.toContain('empty');
});

describe('after a last run of 100 records, a run', () => {
  const last = publishedManifest({ records: 100, fields: { id: ['number'], name: ['null', 'string'] } });

  test.each([
    ['the same records', run, []],
    ['half of the records', { ...run, records: 50 }, []],
    ['less than half of the records', { ...run, records: 49 }, ['shrunk']],
    ['none', { ...run, records: 0 }, ['empty']],
    [
      'a degraded page',
      { ...run, scanRefused: ['degraded'], consistency: 'best-effort' },
      ['degraded', 'unproved'],
    ],
    ['an unproved scan', { ...run, consistency: 'best-effort' }, ['unproved']],
    ['a scan that read nothing', { ...run, scanRefused: ['incomplete'] }, ['incomplete']],
    ['a different type', { ...run, fields: { id: ['string'], name: ['string'] } }, ['type']],
    ['an additional type', { ...run, fields: { id: ['number', 'string'] } }, []],
    ['null where there was text', { ...run, fields: { id: ['number'], name: ['null'] } }, []],
    ['a removed field and a new one', { ...run, fields: { id: ['number'], extra: ['array'] } }, []],
    ['another platform', { ...run, platform: 'other.example.com' }, ['platform']],
    ['a different selection', { ...run, selection: { name: 'x' } }, ['selection']],
  ] as const satisfies readonly (readonly [string, Parameters<typeof refusals>[0], readonly string[]])[])(
    'with %s is refused for the right reasons, if any',
    (_name, judged, reasons) => {
      expect(refusals(judged, last)).toEqual(reasons);
    },
  );
});

test('a field that was always null may get any type', () => {
  const last = publishedManifest({ records: 100, fields: { name: ['null'] } });

  expect(refusals(run, last)).toEqual([]);
});

test('a selection may contain null', () => {
  const last = publishedManifest({ records: 100, selection: { a: null } });

  expect(refusals({ ...run, selection: { a: null } }, last)).toEqual([]);
  expect(refusals({ ...run, selection: { a: {} } }, last)).toEqual(['selection']);
});

test('selections are equal whatever the order of their names', () => {
  const last = publishedManifest({ records: 100, selection: { a: 1, b: { c: 2, d: 3 } } });

  expect(refusals({ ...run, selection: { b: { d: 3, c: 2 }, a: 1 } }, last)).toEqual([]);
});

describe('with a configured gate, after 100 records, a run', () => {
  const last = publishedManifest({ records: 100 });

  test.each<[string, Gates, number, readonly string[]]>([
    ['of 79 is refused below 0.8', { calculations: { shrunk: 0.8 } }, 79, ['shrunk']],
    ['of 80 is published at 0.8', { calculations: { shrunk: 0.8 } }, 80, []],
    ['of 99 is refused below 1', { calculations: { shrunk: 1 } }, 99, ['shrunk']],
    ['of 1 is published at 0', { calculations: { shrunk: 0 } }, 1, []],
    ['of 1 is published with null', { calculations: { shrunk: null } }, 1, []],
    ['of none stays empty with null', { calculations: { shrunk: null } }, 0, ['empty']],
    ['of 49 has the default where another place is configured', { cards: { shrunk: null } }, 49, ['shrunk']],
    [
      'of 49 has the default where a narrowed snapshot is configured',
      { 'calculations.x': { shrunk: null } },
      49,
      ['shrunk'],
    ],
  ])('%s', (_, gates, records, reasons) => {
    expect(refusals({ ...run, records }, last, false, gates)).toEqual(reasons);
  });
});

describe('SYNC_GATES', () => {
  const faultsOf = (text: string) => {
    try {
      return readGates(text);
    } catch (error) {
      return Object(error).faults;
    }
  };

  test('configures places, of sources and of narrowed snapshots', () => {
    expect(readGates(undefined)).toEqual({});
    expect(readGates('{"calculations":{"shrunk":0.8},"files.daily":{"shrunk":null}}')).toEqual({
      calculations: { shrunk: 0.8 },
      'files.daily': { shrunk: null },
    });
  });

  test.each<[string, readonly unknown[]]>([
    ['{', ['SYNC_GATES: expected JSON, got invalid JSON (1 characters)']],
    ['[]', ['SYNC_GATES: expected an object by place: SOURCE or SOURCE.NAME, got a list of 0']],
    ['0.8', ['SYNC_GATES: expected an object by place: SOURCE or SOURCE.NAME, got 0.8']],
    [
      '{"calculation":{"shrunk":0.8}}',
      ['SYNC_GATES.calculation: expected SOURCE or SOURCE.NAME as a name, got "calculation"'],
    ],
    ['{"cards":0.8}', ['SYNC_GATES.cards: expected an object of shrunk, got 0.8']],
    [
      '{"cards":{}}',
      [
        'SYNC_GATES.cards.shrunk: expected a share of the last run’s records from 0 to 1, or null for never, got nothing',
      ],
    ],
    ['{"cards":{"shrunk":0.8,"empty":1}}', ['SYNC_GATES.cards.empty: not a known name']],
  ])('%s is refused with what was expected', (text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });

  test.each(['1.5', '-0.1', '"0.8"', '80', '{"a":1}'])('cannot be the share %s', (share) => {
    expect(faultsOf(`{"cards":{"shrunk":${share}}}`)).toEqual([
      expect.stringContaining(
        'expected a share of the last run’s records from 0 to 1, or null for never, got',
      ),
    ]);
  });
});

test.each([
  ['acme.example.com', 'acme.example.com', true],
  ['acme.example.com', 'globex.example.com', false],
  ['localhost:8080', '127.0.0.1:9090', true],
  ['[::1]:8080', 'localhost', true],
  ['localhost', 'acme.example.com', false],
  ['acme.example.com', '127.0.0.1', false],
])('%s and %s are the same platform: %s', (one, other, isSame) => {
  expect(isSamePlatform(one, other)).toBe(isSame);
});
