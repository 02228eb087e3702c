import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CreatedPosition,
  createdScan,
} from '../../../../lib/snapshot/sources/calculations/created-scan.ts';
import type { CalculationPage, ReadPage } from '../../../../lib/snapshot/sources/calculations/pages.ts';
import { NO_PROGRESS, OrderError } from '../../../../lib/snapshot/sources/calculations/progress.ts';
import { scaled } from '../../../scale.ts';
import { scanned } from '../../scanned.ts';
import { type Change, pageOf, type Simulated, simulatePlatform, watched } from '../../simulated-platform.ts';

const rowAt = (id: number, created: number) => ({ id, created });

const scanOf = (readPage: ReadPage, limit: number) => createdScan({ readPage, limit });

/** A platform that sends the same two pages forever: one for the latest rows, one for all other requests. */
const fixedPages =
  (top: CalculationPage, page: CalculationPage): ReadPage =>
  async ({ ascending }) =>
    ascending ? page : top;

describe('a platform that does not change', () => {
  test('is read completely, in the order of creation, and proved', async () => {
    const platform = simulatePlatform({ steps: [1, 1, 0, 1, 0, 0, 1, 1], changes: [] });

    const { keys, outcome } = await scanned(scanOf(platform.readPage, 5));

    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    expect(outcome).toEqual({
      consistency: 'proved',
      assumes: ['current-responses', 'fixed-creation-times'],
      totals: { start: 8, end: 8 },
      order: 'created',
      missing: [],
      refused: [],
    });
  });

  test('is read in pages that overlap by all rows of the last time and one below, and the latest rows last', async () => {
    const platform = simulatePlatform({ steps: [1, 1, 1, 0, 1, 1, 1, 1], changes: [] });
    const { requested, read } = watched(platform.readPage);

    await scanned(scanOf(read, 4));

    expect(requested).toEqual(['<0', '>0', '>1', '>3', '>5', '<0']);
  });

  test('with more records of one time than a page holds is not read in this order', async () => {
    const crowded = [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1];
    for (const steps of [crowded, crowded.slice(0, 9)]) {
      const { readPage } = simulatePlatform({ steps, changes: [] });

      await expect(scanned(scanOf(readPage, 4))).rejects.toThrow(
        new OrderError('more records were created at 2 than a page has'),
      );
    }
  });
});

test('the scan ends once it has passed the latest row of its start, although others were added', async () => {
  const added: Change[] = Array.from({ length: 3 }, () => ({ kind: 'add', after: 1 }));
  const platform = simulatePlatform({ steps: [1, 1, 1, 1, 1], changes: [[], added, added, added, added] });
  const { requested, read } = watched(platform.readPage);

  const { keys, outcome } = await scanned(scanOf(read, 4));

  expect(requested).toEqual(['<0', '>0', '>2']);
  expect(keys).toEqual(['1', '2', '3', '4', '5', '6']);
  expect(outcome.consistency).toBe('proved');
});

test('rows deleted before the page are detected, and the scan steps back to what slid below it', async () => {
  const deletions = Array.from({ length: 3 }, (): Change => ({ kind: 'delete', at: 0 }));
  const steps = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
  const platform = simulatePlatform({ steps, changes: [[], [], deletions] });
  const { requested, read } = watched(platform.readPage);

  const { keys, outcome } = await scanned(scanOf(read, 4));

  expect(requested.slice(0, 5)).toEqual(['<0', '>0', '>2', '>1', '>0']);
  expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  expect(outcome.consistency).toBe('proved');
});

test('a page that starts at the last time proves nothing: rows of that time may precede it', async () => {
  // Rows 3 to 5 share a time and the first page ends with row 3. Then row 1 is deleted, and row 3 moves last in its time.
  const pages = [
    [rowAt(8, 6), rowAt(7, 5)],
    [rowAt(1, 1), rowAt(2, 2), rowAt(3, 3)],
    [rowAt(5, 3), rowAt(3, 3), rowAt(6, 4)],
    [rowAt(2, 2), rowAt(4, 3), rowAt(5, 3), rowAt(3, 3), rowAt(6, 4)],
    [rowAt(3, 3), rowAt(6, 4), rowAt(7, 5), rowAt(8, 6)],
    [rowAt(8, 6), rowAt(7, 5)],
  ];
  let requests = 0;
  const { requested, read } = watched(async () => pageOf(pages[requests++] ?? []));

  const { keys, outcome } = await scanned(scanOf(read, 9));

  expect(requested).toEqual(['<0', '>0', '>1', '>0', '>3', '<0']);
  expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  expect(outcome.consistency).toBe('proved');
});

/** A scan that has taken five rows, the last two of them created at 20. */
const upToTwenty: CreatedPosition = {
  ...NO_PROGRESS,
  target: 90,
  next: 3,
  stepBack: 0,
  last: { created: 20, ids: ['4', '5'] },
};

/**
 * A scan from a position on, of these pages in turn, each row as `id@created`: its requests, and its keys if it is proved
 * to be complete, or the error that ended it.
 */
async function resumed(from: Partial<CreatedPosition>, pages: readonly string[]) {
  const { requested, read } = watched(async () => {
    const page = pages[requested.length - 1];
    if (page === undefined) throw new Error('no more pages');
    const rows = page.split(' ').filter((row) => row !== '');
    return pageOf(
      rows.map((row) => row.split('@').map(Number)).map(([id = 0, created]) => ({ id, created })),
    );
  });
  const scan = scanned(scanOf(read, 9), { from: { ...upToTwenty, ...from } });
  const end = await scan.then(
    ({ keys, outcome }) => `${outcome.consistency} ${keys}`,
    (error: unknown) => (error as Error).message,
  );
  return [requested.join(' '), end];
}

describe('a page that ends below the last time is the end', () => {
  const [page, top, more] = ['1@19 2@19', '2@19 1@19', '3@19'];

  test.each([
    [
      'if none follows it, and it still has the same rows',
      [page, top, more, '', top],
      '>3 <0 <2 >5 >3',
      'proved ',
    ],
    ['but not if another follows it', [page, top, more, more], '>3 <0 <2 >5 >4', 'no more pages'],
    [
      'but not if it has one row more by now',
      [page, top, more, '', '1@19 2@19 3@19'],
      '>3 <0 <2 >5 >3 >4',
      'no more pages',
    ],
    [
      'but not if it has another row by now',
      [page, top, more, '', '1@19 7@19'],
      '>3 <0 <2 >5 >3 >4',
      'no more pages',
    ],
    ['but not if it has a row of the last time', ['1@19 4@20', top, more], '>3 <0 <2 >3', 'no more pages'],
  ])('%s', async (_, pages, requested, end) => {
    expect(await resumed({}, pages)).toEqual([requested, end]);
  });

  test('but not if it is empty', async () => {
    expect(await resumed({ next: 0 }, ['', top, more, ''])).toEqual(['>0 <0 <2 >0 <0', 'no more pages']);
  });
});

describe('the latest rows are all there are', () => {
  const top = '2@19 1@19';

  test.each([
    ['if there are none', { next: 0 }, ['', ''], '>0 <0', 'proved '],
    [
      'if none follows them, and they are the same',
      {},
      [top, top, '', '1@19 2@19'],
      '>3 <0 <2 <0',
      'proved ',
    ],
    [
      'but not if one of them is gone by now',
      {},
      [top, top, '', '2@19 7@19', '8@19'],
      '>3 <0 <2 <0 >5 >4',
      'no more pages',
    ],
    [
      'from the last time taken on, if an earlier row follows',
      {},
      ['3@19', '7@22 6@21 5@20 3@19'],
      '>3 <0',
      'proved 6,7',
    ],
  ])('%s', async (_, from, pages, requested, end) => {
    expect(await resumed(from, pages)).toEqual([requested, end]);
  });
});

describe('the first request', () => {
  test('shows the latest row', async () => {
    const platform = simulatePlatform({ steps: [1], changes: [] });
    const { requested, read } = watched(platform.readPage);

    await scanned(scanOf(read, 4));

    expect(requested).toEqual(['<0', '>0', '>0', '<0', '<1', '<0']);
  });

  test('is repeated for a whole page if it shows two of one time', async () => {
    const platform = simulatePlatform({ steps: [1, 1, 0], changes: [] });
    const { requested, read } = watched(platform.readPage);

    await scanned(scanOf(read, 4));

    expect(requested).toEqual(['<0', '<0', '>0', '<0']);
  });
});

test('what was reported before a scan was resumed still counts', async () => {
  const readPage: ReadPage = async () => pageOf([]);
  const from = { ...upToTwenty, next: 0 };
  const totals = { start: 5, end: 6 };

  const nothing = await scanned(scanOf(readPage, 9), { from });
  const degraded = await scanned(scanOf(readPage, 9), { from: { ...from, degraded: true, totals } });

  expect(nothing.outcome).toMatchObject({ consistency: 'proved', totals: { start: null, end: null } });
  expect(degraded.outcome).toMatchObject({ consistency: 'best-effort', refused: ['degraded'], totals });
});

describe('a fault of the platform', () => {
  test('an order that the platform did not keep to stops the scan', async () => {
    const top = pageOf([{ id: 9, created: 9 }]);
    const page = pageOf([
      { id: 1, created: 5 },
      { id: 2, created: 3 },
    ]);

    await expect(scanned(scanOf(fixedPages(top, page), 9))).rejects.toThrow(
      new OrderError('the platform did not keep to the ascending order of created: 3 came after 5 at row 1'),
    );
  });

  test('a record that occurs twice in a page stops the scan', async () => {
    const page = pageOf([
      { id: 1, created: 5 },
      { id: 1, created: 5 },
    ]);

    await expect(scanned(scanOf(fixedPages(page, page), 9))).rejects.toThrow('a record came twice in a page');
  });

  test('a platform that only sorts in ascending order is detected, even if its first rows share one time', async () => {
    const platform = simulatePlatform({ steps: [1, 0, 1, 1, 1, 1, 1], changes: [] });
    const readPage: ReadPage = ({ ascending, offset, limit }) =>
      platform.readPage({ ascending: true, offset, limit: ascending ? limit : 2 });

    await expect(scanned(scanOf(readPage, 4))).rejects.toThrow(
      'did not keep to the descending order of created',
    );
  });

  test.each([[undefined], [null], ['yesterday'], [true]])(
    'a record with %s as its creation stops the scan',
    async (created) => {
      const page = pageOf([{ id: 17, created }]);

      await expect(scanned(scanOf(fixedPages(page, page), 2))).rejects.toThrow(
        new OrderError('record 17 does not say when it was created'),
      );
    },
  );

  test('a platform that stays degraded is not called proved', async () => {
    const platform = simulatePlatform({ steps: [1, 1, 1], changes: [] });
    const readPage: ReadPage = async (request) => ({
      ...(await platform.readPage(request)),
      degraded: true,
    });

    const { keys, outcome } = await scanned(scanOf(readPage, 4));

    expect(keys).toEqual(['1', '2', '3']);
    expect(outcome).toMatchObject({ consistency: 'best-effort', refused: ['degraded'] });
  });
});

test('ISO text is compared as time, whatever its zone and its precision', async () => {
  const rows = [
    { id: 1, created: '2025-01-01T01:00:00+02:00' },
    { id: 2, created: '2025-01-01T00:00:00Z' },
    { id: 3, created: '2025-01-01 00:00:00.000900' },
    { id: 4, created: '2025-01-01T00:00:00.5+0000' },
  ];
  const readPage: ReadPage = async ({ ascending, offset, limit }) =>
    pageOf((ascending ? rows : rows.toReversed()).slice(offset, offset + limit));

  const { keys, lines, outcome } = await scanned(scanOf(readPage, 10));

  expect(keys).toEqual(['1', '2', '3', '4']);
  expect(lines[0]).toBe('{"id":1,"created":"2025-01-01T01:00:00+02:00"}');
  expect(outcome.consistency).toBe('proved');
});

describe('a platform that changes while it is read', () => {
  const change: fc.Arbitrary<Change> = fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), after: fc.nat(2) }) },
  );
  const changes = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 20 });
  /** How much later each row was created than the one before it; many were created at the same time. */
  const steps = fc.array(fc.constantFrom(0, 0, 1, 1, 2), { maxLength: 40 });
  const ties = fc.oneof(
    fc.constant([0]),
    fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 7 }),
  );
  const caps = fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 4 });
  const schedule = fc.record({ steps, changes, ties, caps });
  /** A time with more rows than a page ends the scan: it takes no order then. */
  const inOrder = (error: unknown) => {
    if (error instanceof OrderError) return undefined;
    throw error;
  };
  const limits = fc.integer({ min: 2, max: 12 });

  test('gives no record twice, ends, and loses none that exists throughout if the scan calls itself proved', async () => {
    const runs = scaled(500, 5_000);
    let proved = 0;
    await fc.assert(
      fc.asyncProperty(schedule, limits, async (simulated, limit) => {
        const platform = simulatePlatform(simulated);

        const end = await scanned(scanOf(platform.readPage, limit)).catch(inOrder);

        expect(platform.requests()).toBeLessThan(400);
        if (end === undefined) return;
        proved += 1;
        const { keys, outcome } = end;
        expect(outcome.consistency).toBe('proved');
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).toEqual(expect.arrayContaining(platform.livedThrough()));
      }),
      { numRuns: runs },
    );

    expect(proved).toBeGreaterThan(runs * 0.3);
  });

  test('is proved whenever a page holds all rows of any time, and a row below and above it', async () => {
    const provable: fc.Arbitrary<Simulated> = fc.record({
      steps: fc
        .array(fc.integer({ min: 1, max: 3 }), { maxLength: 14 })
        .map((sizes) => sizes.flatMap((size) => [1, ...Array.from({ length: size - 1 }, () => 0)])),
      changes: fc.array(
        fc.array(
          change.map((each) => (each.kind === 'add' ? { ...each, after: 1 } : each)),
          { maxLength: 3 },
        ),
        { maxLength: 20 },
      ),
      ties,
      caps: fc.array(fc.integer({ min: 5, max: 9 }), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(provable, async (simulated) => {
        const platform = simulatePlatform(simulated);

        const { keys, outcome } = await scanned(scanOf(platform.readPage, 9));

        expect(outcome.consistency).toBe('proved');
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).toEqual(expect.arrayContaining(platform.livedThrough()));
      }),
      { numRuns: scaled(300, 3_000) },
    );
  });

  test('can be resumed from any position as if the scan had never stopped', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, limits, async (simulated, limit) => {
        const whole = await scanned(scanOf(simulatePlatform(simulated).readPage, limit)).catch(inOrder);

        for (const { records, position } of whole?.positions ?? []) {
          const again = simulatePlatform(simulated);
          const first = await scanned(scanOf(again.readPage, limit));
          const rest = await scanned(scanOf(again.readPage, limit), { from: position }).catch(inOrder);
          if (rest === undefined) continue;
          const keys = [...first.keys.slice(0, records), ...rest.keys];

          expect(new Set(keys).size).toBe(keys.length);
          expect(keys).toEqual(expect.arrayContaining(again.livedThrough()));
        }
      }),
      { numRuns: scaled(50, 300) },
    );
  });
});
