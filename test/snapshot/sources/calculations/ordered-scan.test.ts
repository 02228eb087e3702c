import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import { orderedScan } from '../../../../lib/snapshot/sources/calculations/ordered-scan.ts';
import {
  NO_PROGRESS,
  type Progress,
  pageIn,
  type ReadPage,
  refuseStall,
  ScanError,
} from '../../../../lib/snapshot/sources/calculations/pages.ts';
import { scaled } from '../../../scale.ts';
import { fromBeginning, scanned } from '../../scanned.ts';
import {
  type Change,
  idsPage,
  pageOf,
  rowsOf,
  type Simulated,
  simulatePlatform,
  watched,
} from '../../simulated-platform.ts';

type CalculationPage = Awaited<ReturnType<ReadPage>>;

const scanOf =
  (field: 'id' | 'created', readPage: ReadPage, limit: number): Scan<Progress> =>
  ({ from = { ...NO_PROGRESS, field }, signal }) =>
    orderedScan({ readPage, limit }, { from, signal });

/** A platform that always sends the same two pages: `top` if the latest rows are requested, else `page`. */
const fixedPages =
  (top: CalculationPage, page: CalculationPage): ReadPage =>
  async ({ ascending }) =>
    ascending ? page : top;

const rows = (...ids: readonly number[]) => pageOf(ids.map((id) => ({ id, created: id })));

describe.each(['id', 'created'] as const)('a scan by %s', (field) => {
  const assumes = { id: ['current-responses'], created: ['current-responses', 'fixed-creation-times'] }[
    field
  ];

  test('of a platform that does not change is complete, in that order, and proved', async () => {
    const platform = simulatePlatform({ steps: rowsOf(10), changes: [] });

    const { keys, outcome } = await scanned(scanOf(field, platform.readPage, 4));

    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
    const totals = { start: 10, end: 10 };
    expect(outcome).toEqual({
      consistency: 'proved',
      degradedPages: 0,
      assumes,
      totals,
      order: field,
      missing: [],
      refused: [],
      unnamed: 0,
    });
  });

  test.each([
    ['ascending', rows(3, 2, 1), rows(1, 5, 3), '3 came after 5'],
    ['descending', rows(1, 2, 3), rows(1, 2, 3), '2 came after 1'],
  ])('ends if the platform does not keep the %s order', async (order, top, page, what) => {
    const scan = scanned(scanOf(field, fixedPages(top, page), 9));

    await expect(scan).rejects.toThrow(
      new ScanError(`the platform did not keep to the ${order} order of ${field}: ${what}`),
    );
  });

  test('ends if a record is repeated within a page', async () => {
    const twice = {
      id: 'the platform did not keep to the ascending order of id: 1 came after 1',
      created: 'a record came twice in a page',
    }[field];

    await expect(scanned(scanOf(field, fixedPages(rows(1), rows(1, 1)), 9))).rejects.toThrow(
      new ScanError(twice),
    );
  });

  test('yields positions only after new records, so that it always reaches its end', async () => {
    const platform = simulatePlatform({ steps: rowsOf(10), changes: [] });
    const withoutTotal: ReadPage = async (request) => ({
      ...(await platform.readPage(request)),
      total: null,
    });

    const { positions } = await scanned(scanOf(field, withoutTotal, 4));

    const counts = { id: [4, 7, 10], created: [4, 6, 8, 10] }[field];
    expect(positions.map(({ records }) => records)).toEqual(counts);
  });

  test('aborts the page that it awaits if it is aborted', async () => {
    const stop = new AbortController();
    const waiting: ReadPage = ({ signal }) => {
      const { promise, reject } = Promise.withResolvers<CalculationPage>();
      signal?.addEventListener('abort', () => reject(signal.reason));
      return promise;
    };

    const scan = scanned(scanOf(field, waiting, 4), { signal: stop.signal });
    stop.abort(new Error('enough'));

    await expect(scan).rejects.toThrow('enough');
  });

  test.each([
    ['sends the same page forever', rows(99, 98), rows(1, 2, 3, 4)],
    ['shows its latest row, and no page', rows(99, 98), rows()],
  ])('ends if the platform %s', async (_, top, page) => {
    await expect(scanned(scanOf(field, fixedPages(top, page), 4))).rejects.toThrow(
      /^the scan made no progress: 3\d pages up to row \d+ had no new rows$/,
    );
  });

  test('ends immediately if the platform lists only its latest rows, and reports some', async () => {
    const { requested, read } = watched(fixedPages(rows(99, 98), pageOf([], 2)));

    await expect(scanned(scanOf(field, read, 4))).rejects.toThrow(
      `sorted by ${field}, the platform listed no rows, and reported 2`,
    );
    expect(requested).toEqual(['<0', '>0']);
  });

  test('ends after 100,000 pages if each of them brings new rows', async () => {
    let length = 250;
    const endless: ReadPage = async ({ ascending, offset, limit }) => {
      length += 100;
      const page = Array.from({ length: limit }, (_, at) => offset + at + 1);
      return ascending ? rows(...page) : rows(1_000_000_000 + length, 1_000_000_000);
    };
    const first = await scanOf(field, endless, 100)(fromBeginning).next();
    const from = { ...NO_PROGRESS, ...(first.value && 'position' in first.value && first.value.position) };

    await expect(
      scanned(scanOf(field, endless, 100), { from: { ...from, pages: 99_990 } }),
    ).rejects.toMatchObject({ failure: { kind: 'endless', pages: 100_000 } });
  });

  test.each([true, false])(
    'is not proved if a response stayed degraded (ascending: %s)',
    async (isAscending) => {
      const platform = simulatePlatform({ steps: rowsOf(3), changes: [] });
      const readPage: ReadPage = async (request) => ({
        ...(await platform.readPage(request)),
        degraded: request.ascending === isAscending,
      });

      const { keys, outcome } = await scanned(scanOf(field, readPage, 4));

      expect(keys).toEqual(['1', '2', '3']);
      expect(outcome).toMatchObject({ consistency: 'best-effort', refused: ['degraded'] });
    },
  );

  test('reports after it is resumed what was reported before', async () => {
    const totals = { start: 5, end: 6 };
    const from: Progress = { ...NO_PROGRESS, field, degradedPages: 1, totals };

    const { outcome } = await scanned(scanOf(field, fixedPages(rows(), rows()), 9), { from });

    expect(outcome).toMatchObject({
      consistency: 'best-effort',
      refused: ['degraded'],
      degradedPages: 1,
      totals,
    });
  });
});

describe.each(['id', 'created'] as const)('a list that grows with each request, read by %s', (field) => {
  const growing = (length: number, added: number) => {
    const changes = Array.from({ length: 60 }, () =>
      Array.from({ length: added }, (): Change => ({ kind: 'add' })),
    );
    return simulatePlatform({ steps: rowsOf(length), changes });
  };

  test.each([2, 5, 150])('and by %i rows, is read to the end that it had at the beginning', async (added) => {
    const { readPage, requests, livedThrough } = growing(1_000, added);

    const { keys, outcome } = await scanned(scanOf(field, readPage, 100));

    expect(keys).toEqual(expect.arrayContaining(livedThrough()));
    expect(outcome.consistency).toBe('proved');
    expect(requests()).toBeLessThan(20);
  });

  test('is read to its end if it was empty at the beginning, or its latest rows were deleted', async () => {
    const empty = simulatePlatform({ steps: [], changes: [[], [{ kind: 'add' }], [{ kind: 'add' }]] });
    const last = Array.from({ length: 3 }, (_, at): Change => ({ kind: 'delete', at: 9 - at }));
    const cut = simulatePlatform({ steps: rowsOf(10), changes: [[], last] });

    const found = await scanned(scanOf(field, empty.readPage, 4));
    const left = await scanned(scanOf(field, cut.readPage, 4));

    expect(found.keys).toEqual(['1', '2']);
    expect(left.keys).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect([found.outcome.consistency, left.outcome.consistency]).toEqual(['proved', 'proved']);
  });

  test('is read from a position to the same end', async () => {
    const { positions } = await scanned(scanOf(field, growing(1_000, 5).readPage, 100));
    const from = positions[2]?.position;
    const { readPage, requests } = growing(1_000, 200);

    await scanned(scanOf(field, readPage, 100), { from });

    expect(from?.top).not.toBeNull();
    expect(requests()).toBeLessThan(20);
  });
});

test.each(['id', 'created'] as const)(
  'a scan by %s leaves out a row without an id, and continues',
  async (field) => {
    const all = [{ id: 1 }, { id: 2 }, { name: 'Margin' }, { id: 3 }, { id: 4 }, { id: 5 }].map(
      (row, at) => ({
        ...row,
        created: at,
      }),
    );
    const readPage: ReadPage = async ({ ascending, offset, limit }) => {
      const rows = ascending ? all : all.toReversed();
      const text = JSON.stringify({ results: rows.slice(offset, offset + limit), totalHits: all.length });
      return pageIn(Buffer.from(text), field);
    };

    const { keys, outcome } = await scanned(scanOf(field, readPage, 5));

    expect(keys).toEqual(['1', '2', '3', '4', '5']);
    expect(outcome.consistency).toBe('proved');
  },
);

describe('by id', () => {
  test('pages overlap by one row, and no page beyond the total is requested', async () => {
    const platform = simulatePlatform({ steps: rowsOf(10), changes: [] });
    const { requested, read } = watched(platform.readPage);

    await scanned(scanOf('id', read, 4));

    expect(requested).toEqual(['<0', '>0', '>3', '>6']);
  });

  test.each([
    ['two', 10, ['<0', '>0', '>3', '>6']],
    ['one', 5_000_000, ['<0', '>0', '>3']],
  ])(
    '%s pages are fetched ahead of a page of %i bytes, and aborted if the caller stops',
    async (_, sizeBytes, expected) => {
      const platform = simulatePlatform({ steps: rowsOf(20), changes: [] });
      const signals: (AbortSignal | undefined)[] = [];
      const { requested, read } = watched(async (request) => {
        signals.push(request.signal);
        return { ...(await platform.readPage(request)), sizeBytes };
      });
      const steps = scanOf('id', read, 4)(fromBeginning);

      await steps.next();
      await steps.return(undefined as never);

      expect(requested).toEqual(expected);
      expect(signals.slice(2).map((signal) => signal?.aborted)).toEqual(signals.slice(2).map(() => true));
    },
  );

  test('a failure of a prefetched page fails the scan only if the page is needed', async () => {
    const deletions = Array.from({ length: 3 }, (): Change => ({ kind: 'delete', at: 0 }));
    const failing = (failAt: number): ReadPage => {
      const platform = simulatePlatform({ steps: rowsOf(20), changes: [[], [], deletions] });
      const { requested, read } = watched(async (request) => {
        if (requested.length === failAt) throw new Error('cut off');
        return platform.readPage(request);
      });
      return read;
    };

    const unhandled: unknown[] = [];
    const record = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', record);

    await expect(scanned(scanOf('id', failing(3), 4))).rejects.toThrow('cut off');
    const { keys } = await scanned(scanOf('id', failing(4), 4));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', record);

    expect(keys).toHaveLength(20);
    expect(unhandled).toEqual([]);
  });

  test('a list that was empty at the beginning, and grows with each request, ends at the rows that the scan found first', async () => {
    const five = Array.from({ length: 5 }, (): Change => ({ kind: 'add' }));
    const changes = [[], ...Array.from({ length: 60 }, () => five)];
    const { readPage, requests } = simulatePlatform({ steps: [], changes });

    const { keys, outcome } = await scanned(scanOf('id', readPage, 100));

    expect(keys.length).toBeGreaterThanOrEqual(5);
    expect(outcome.consistency).toBe('proved');
    expect(requests()).toBeLessThan(10);
  });

  test('a list whose latest row was deleted ends after that row, although others were added', async () => {
    const twenty = Array.from({ length: 20 }, (): Change => ({ kind: 'add' }));
    const changes: Change[][] = [[], [{ kind: 'delete', at: 9 }], twenty];
    const { readPage } = simulatePlatform({ steps: rowsOf(10), changes });

    const { keys } = await scanned(scanOf('id', readPage, 10));

    expect(keys.slice(8)).toEqual(['9', '11', '12', '13', '14', '15', '16', '17', '18', '19']);
  });

  test('ids above 2^53 are read in their order as integers', async () => {
    const ids = [99n, 9_007_199_254_740_992n, 9_007_199_254_740_993n, 10_000_000_000_000_000n];
    const top = idsPage(ids.toReversed());

    const { keys } = await scanned(scanOf('id', fixedPages(top, idsPage(ids)), 10));

    expect(keys).toEqual(ids.map(String));
  });

  test('a short page that ends below what was taken does not move the scan back', async () => {
    const last = { value: '6', ids: ['6'] };
    const pages = [
      [8, 9],
      [7, 8, 9],
      [4, 5],
      [9, 8],
      [5, 6, 7, 8, 9],
    ];
    const { requested, read } = watched(async () => idsPage(pages[requested.length - 1] ?? []));

    const { keys } = await scanned(scanOf('id', read, 1), {
      from: { ...NO_PROGRESS, top: '9', next: 5, last },
    });

    expect(keys).toEqual(['7', '8', '9']);
    expect(requested).toEqual(['>5', '>4', '>3', '<0', '>4']);
  });

  test('a platform whose pages are always small is read to its end', async () => {
    const platform = simulatePlatform({ steps: rowsOf(3_000), changes: [], caps: [10] });

    const { keys } = await scanned(scanOf('id', platform.readPage, 100));

    expect(keys).toHaveLength(3_000);
  });
});

describe('by creation', () => {
  test('pages overlap by all rows of the last time, whose ids are in the position, and one earlier row', async () => {
    const platform = simulatePlatform({ steps: [1, 1, 1, 0, 1, 1, 1, 1], changes: [] });
    const { requested, read } = watched(platform.readPage);

    const { positions } = await scanned(scanOf('created', read, 4));

    expect(requested).toEqual(['<0', '>0', '>1', '>3', '>5', '<0']);
    expect(positions.map(({ position }) => position.last?.ids)).toEqual([['3', '4'], ['5'], ['7'], ['8']]);
  });

  test('a page that starts at the last time proves nothing, since rows of that time may precede it', async () => {
    // Rows 3 to 5 share a time, and the first page ends with row 3. Then row 1 is deleted, and row 3 becomes the last
    // of its time.
    const at = (created: number, ...ids: readonly number[]) => ids.map((id) => ({ id, created }));
    const pages = [
      [...at(6, 8), ...at(5, 7)],
      [...at(1, 1), ...at(2, 2), ...at(3, 3)],
      [...at(3, 5, 3), ...at(4, 6)],
      [...at(2, 2), ...at(3, 4, 5, 3), ...at(4, 6)],
      [...at(3, 3), ...at(4, 6), ...at(5, 7), ...at(6, 8)],
      [...at(5, 7), ...at(6, 8)],
      [...at(6, 8), ...at(5, 7)],
    ];
    const { requested, read } = watched(async () => pageOf(pages[requested.length - 1] ?? []));

    const { keys, outcome } = await scanned(scanOf('created', read, 9));

    expect(requested).toEqual(['<0', '>0', '>1', '>0', '>3', '>5', '<0']);
    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    expect(outcome.consistency).toBe('proved');
  });

  test('a time with more records than a page has makes no progress', async () => {
    const crowded = [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1];
    for (const steps of [crowded, crowded.slice(0, 9)]) {
      const { readPage } = simulatePlatform({ steps, changes: [] });

      await expect(scanned(scanOf('created', readPage, 4))).rejects.toThrow(ScanError);
    }
  });

  test('records of one time are complete if none follows them, and they are unchanged', async () => {
    const same = pageOf([
      { id: 1, created: 19 },
      { id: 2, created: 19 },
    ]);
    const other = pageOf([
      { id: 2, created: 19 },
      { id: 7, created: 19 },
    ]);
    const scanWith = (again: CalculationPage) => {
      const pages = [same, same, same, same, rows(), again];
      let requests = 0;
      return scanned(scanOf('created', async () => pages[requests++] ?? rows(5, 1), 9));
    };

    expect((await scanWith(same)).outcome.consistency).toBe('proved');
    await expect(scanWith(other)).rejects.toThrow(ScanError);
  });

  test.each([[undefined], [null], ['yesterday'], [true]])(
    'a record whose creation is %s ends the scan',
    async (created) => {
      const page = pageOf([{ id: 17, created }]);

      await expect(scanned(scanOf('created', fixedPages(page, page), 2))).rejects.toThrow(
        new ScanError('record 17 has no creation time'),
      );
    },
  );

  test('ISO strings are compared as times, in any zone and precision', async () => {
    const sent = [
      { id: 1, created: '2025-01-01T01:00:00+02:00' },
      { id: 2, created: '2025-01-01T00:00:00Z' },
      { id: 3, created: '2025-01-01 00:00:00.000900' },
      { id: 4, created: '2025-01-01T00:00:00.5+0000' },
    ];
    const readPage: ReadPage = async ({ ascending, offset, limit }) =>
      pageOf((ascending ? sent : sent.toReversed()).slice(offset, offset + limit));

    const { keys, lines, outcome } = await scanned(scanOf('created', readPage, 10));

    expect(keys).toEqual(['1', '2', '3', '4']);
    expect(lines[0]).toBe('{"id":1,"created":"2025-01-01T01:00:00+02:00"}');
    expect(outcome.consistency).toBe('proved');
  });
});

test('a scan ends after 32 pages without new rows, plus one for each page with new rows before, or after 100,000 pages', () => {
  const refused = (progress: Partial<Progress>) => () =>
    refuseStall({ ...NO_PROGRESS, next: 7, ...progress });

  expect(refused({})).not.toThrow();
  expect(refused({ pages: 32, idle: 32 })).not.toThrow();
  expect(refused({ pages: 33, idle: 33 })).toThrow(
    'the scan made no progress: 33 pages up to row 7 had no new rows',
  );
  expect(refused({ pages: 52, idle: 42 })).not.toThrow();
  expect(refused({ pages: 53, idle: 43 })).toThrow('43 pages');
  expect(refused({ pages: 99_999 })).not.toThrow();
  expect(refused({ pages: 100_000 })).toThrow('searchCalculations (calculations)');
});

describe.each(['id', 'created'] as const)(
  'the scan of a platform that changes while it is read by %s',
  (field) => {
    const change: fc.Arbitrary<Change> = fc.oneof(
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat(40) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), after: fc.nat(2) }) },
    );
    const changes = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 20 });
    const limits = fc.integer({ min: 2, max: 12 });
    /** Simulated platforms. In the order of creation, many rows were created at the same time. */
    const schedule: fc.Arbitrary<Simulated> =
      field === 'id'
        ? fc.record({
            steps: fc.nat(40).map(rowsOf),
            changes: changes.map((all) => all.map((each) => each.map((one) => ({ ...one, after: 1 })))),
            caps: fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 4 }),
          })
        : fc.record({
            steps: fc.array(fc.constantFrom(0, 0, 1, 1, 2), { maxLength: 40 }),
            changes,
            ties: fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 7 }),
            caps: fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 4 }),
          });
    /** By creation, more rows of one time than a page has end the scan with an error. By id that cannot happen. */
    const unproved = (error: unknown) => {
      if (field === 'created' && error instanceof ScanError) return undefined;
      throw error;
    };

    test('takes no record twice, ends, and loses no record that exists throughout', async () => {
      const runs = scaled(500, 5_000);
      let proved = 0;
      await fc.assert(
        fc.asyncProperty(schedule, limits, async (simulated, limit) => {
          const platform = simulatePlatform(simulated);

          const end = await scanned(scanOf(field, platform.readPage, limit)).catch(unproved);

          expect(platform.requests()).toBeLessThan(400);
          if (end === undefined) return;
          proved += 1;
          expect(end.outcome.consistency).toBe('proved');
          expect(new Set(end.keys).size).toBe(end.keys.length);
          expect(end.keys).toEqual(expect.arrayContaining(platform.livedThrough()));
        }),
        { numRuns: runs },
      );

      expect(proved).toBeGreaterThan(runs * 0.3);
    });

    test.runIf(field === 'created')(
      'is proved whenever a page holds all rows of any time, and a row before and after it',
      async () => {
        const provable: fc.Arbitrary<Simulated> = fc.record({
          steps: fc
            .array(fc.integer({ min: 1, max: 3 }), { maxLength: 14 })
            .map((sizes) => sizes.flatMap((size) => [1, ...Array.from({ length: size - 1 }, () => 0)])),
          changes: changes.map((all) =>
            all.map((each) => each.slice(0, 3).map((one) => ({ ...one, after: 1 }))),
          ),
          caps: fc.array(fc.integer({ min: 5, max: 9 }), { minLength: 1, maxLength: 4 }),
        });
        await fc.assert(
          fc.asyncProperty(provable, async (simulated) => {
            const platform = simulatePlatform(simulated);

            const { keys, outcome } = await scanned(scanOf(field, platform.readPage, 9));

            expect(outcome.consistency).toBe('proved');
            expect(new Set(keys).size).toBe(keys.length);
            expect(keys).toEqual(expect.arrayContaining(platform.livedThrough()));
          }),
          { numRuns: scaled(300, 3_000) },
        );
      },
    );

    test('can be resumed from any position as if it had never stopped', async () => {
      await fc.assert(
        fc.asyncProperty(schedule, limits, async (simulated, limit) => {
          const whole = await scanned(scanOf(field, simulatePlatform(simulated).readPage, limit)).catch(
            unproved,
          );

          for (const { records, position } of whole?.positions ?? []) {
            const again = simulatePlatform(simulated);
            const first = await scanned(scanOf(field, again.readPage, limit));
            const rest = await scanned(scanOf(field, again.readPage, limit), { from: position }).catch(
              unproved,
            );
            if (rest === undefined) continue;
            const keys = [...first.keys.slice(0, records), ...rest.keys];

            expect(new Set(keys).size).toBe(keys.length);
            expect(keys).toEqual(expect.arrayContaining(again.livedThrough()));
          }
        }),
        { numRuns: scaled(50, 300) },
      );
    });
  },
);
