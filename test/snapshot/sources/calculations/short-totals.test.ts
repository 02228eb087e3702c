import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printJson } from '../../../../lib/base/json/json.ts';
import { calculationPosition, calculationScan } from '../../../../lib/snapshot/sources/calculations/scan.ts';
import { scaled } from '../../../scale.ts';
import { respondingCall, statusError } from '../../responding-call.ts';
import { scanned } from '../../scanned.ts';

type Body = {
  readonly sort: { readonly field: string; readonly ascending: boolean };
  readonly offset: number;
  readonly limit: number;
};

/** A change before a response. `at` picks a row by position; a row that vanishes is missing in this response only. */
type Change = { readonly kind: 'add' | 'delete' | 'vanish'; readonly at: number };

type Simulated = {
  readonly rows: number;
  /** The changes before each request in turn; none after the last entry. */
  readonly changes: readonly (readonly Change[])[];
  /** The last `rows` rows appear in no response before request `until`, although the total counts them. */
  readonly lag: { readonly rows: number; readonly until: number };
  readonly field: 'id' | 'created';
};

const QUIET = { changes: [], lag: { rows: 0, until: 0 }, field: 'id' } as const;

/** A platform with exact totals, whose responses may be out of date. */
function simulate({ rows, changes, lag, field }: Simulated) {
  let live = Array.from({ length: rows }, (_, index) => index + 1);
  let highest = rows;
  let requests = 0;
  const apply = ({ kind, at }: Change) => {
    if (kind === 'add') {
      highest += 1;
      live = [...live, highest];
    }
    if (kind === 'delete') live = live.filter((_, index) => index !== at % Math.max(1, live.length));
  };
  const call = respondingCall(({ body }) => {
    const { sort, offset, limit } = body as Body;
    if (field === 'created' && sort.field === 'id') throw statusError(400);
    const due = changes[requests] ?? [];
    for (const change of due) apply(change);
    const vanished = new Set(
      due.flatMap(({ kind, at }) => (kind === 'vanish' ? [live[at % Math.max(1, live.length)]] : [])),
    );
    const isBehind = requests < lag.until;
    requests += 1;
    const shown = live.filter((id) => !vanished.has(id) && !(isBehind && id > rows - lag.rows && id <= rows));
    const sorted = sort.ascending ? shown : shown.toReversed();
    const results = sorted.slice(offset, offset + limit).map((id) => ({ id, created: id * 10 }));
    return printJson({ results, totalHits: live.length });
  });
  return { call, requests: () => requests, livedThrough: () => live.filter((id) => id <= rows).map(String) };
}

const scanOf = ({ call }: Pick<ReturnType<typeof simulate>, 'call'>, limit: number) =>
  calculationScan({ call, selection: {}, limit, sleep: async () => undefined });

describe.each(['id', 'created'] as const)('a scan by %s', (field) => {
  test('reads everything again if a row vanished from a response while it was updated', async () => {
    const changes = [[], [], [{ kind: 'vanish', at: 5 } as const]];
    const platform = simulate({ ...QUIET, rows: 9, changes, field });

    const { keys, positions, outcome, restarts } = await scanned(scanOf(platform, 4));

    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(outcome.consistency).toBe('proved');
    expect(restarts).toBe(1);
    expect(positions.filter(({ position }) => !calculationPosition.safeParse(position).success)).toEqual([]);
  });

  test('reads everything again until a lagging replica has caught up', async () => {
    const platform = simulate({ ...QUIET, rows: 9, lag: { rows: 3, until: 3 }, field });

    const { keys, outcome } = await scanned(scanOf(platform, 9));

    expect(keys).toHaveLength(9);
    expect(outcome).toMatchObject({ consistency: 'proved', totals: { start: 9, end: 9 } });
    expect(outcome.assumes).toContain('current-responses');
  });

  test('is not proved if three reads found fewer rows than were reported', async () => {
    const platform = simulate({ ...QUIET, rows: 9, lag: { rows: 3, until: 1_000 }, field });

    const { keys, outcome, restarts } = await scanned(scanOf(platform, 9));

    expect(keys).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(outcome).toMatchObject({ consistency: 'best-effort', assumes: [], totals: { start: 9, end: 9 } });
    expect(restarts).toBe(2);
  });
});

test('rows deleted before they are read, and as many added, do not make a scan by id read everything again', async () => {
  const changes: Change[][] = [
    [],
    [
      { kind: 'delete', at: 4 },
      { kind: 'delete', at: 6 },
      { kind: 'add', at: 0 },
      { kind: 'add', at: 0 },
    ],
  ];
  const platform = simulate({ ...QUIET, rows: 9, changes });

  const { keys, outcome, restarts } = await scanned(scanOf(platform, 4));

  expect(keys).toEqual(['1', '2', '3', '4', '6', '7', '9', '10', '11']);
  expect(outcome).toMatchObject({ consistency: 'proved', totals: { start: 9, end: 9 } });
  expect(restarts).toBe(0);
});

test('a scan that never receives the latest row has all other rows, and is not proved', async () => {
  const call = respondingCall(({ body }) => {
    const { sort, offset, limit } = body as Body;
    const rows = [1, 2, 3, 4].map((id) => ({ id }));
    return printJson({
      results: sort.ascending ? rows.slice(offset, offset + limit) : [{ id: 6 }, { id: 5 }],
    });
  });

  const { keys, outcome } = await scanned(scanOf({ call }, 4));

  expect(keys).toEqual(['1', '2', '3', '4']);
  expect(outcome).toMatchObject({ consistency: 'best-effort', order: 'none' });
});

describe('a platform whose responses are stale', () => {
  const vanish = fc.record({ kind: fc.constant('vanish' as const), at: fc.nat(40) });
  const schedule = fc.record({
    rows: fc.integer({ min: 0, max: 30 }),
    changes: fc.array(fc.array(vanish, { maxLength: 2 }), { maxLength: 20 }),
    lag: fc.record({ rows: fc.nat(3), until: fc.nat(15) }),
    field: fc.constantFrom('id' as const, 'created' as const),
  });

  test('is never proved while rows are missing, wherever the scan is resumed, if none are added or deleted', async () => {
    let again = 0;
    await fc.assert(
      fc.asyncProperty(schedule, fc.integer({ min: 2, max: 9 }), async (simulated, limit) => {
        const platform = simulate(simulated);
        const { keys, positions, outcome, restarts } = await scanned(scanOf(platform, limit));
        const pick = positions[Math.floor(positions.length / 2)];

        again += restarts;
        expect(new Set(keys).size).toBe(keys.length);
        expect(platform.requests()).toBeLessThan(600);
        if (outcome.consistency === 'proved')
          expect(keys).toEqual(expect.arrayContaining(platform.livedThrough()));
        if (pick === undefined) return;
        const { position, ...passed } = pick;
        const resumed = await scanned(scanOf(platform, limit), { from: position, passed });
        expect(new Set(resumed.keys).size).toBe(resumed.keys.length);
        if (resumed.outcome.consistency === 'proved')
          expect(resumed.keys).toEqual(expect.arrayContaining(platform.livedThrough()));
      }),
      { numRuns: scaled(200, 3_000) },
    );

    expect(again).toBeGreaterThan(0);
  });
});
