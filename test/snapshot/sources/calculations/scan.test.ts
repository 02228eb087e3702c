import { describe, expect, test } from 'vitest';
import { printJson } from '../../../../lib/base/json/json.ts';
import type { Call } from '../../../../lib/platform/call.ts';
import { type Sandbox, startPlatform } from '../../../../lib/sandbox/platform/start-platform.ts';
import { takeRun } from '../../../../lib/snapshot/run/take-run.ts';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import { calculationScan } from '../../../../lib/snapshot/sources/calculations/scan.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';
import { respondingCall, statusError } from '../../responding-call.ts';
import { beginIn, noCalls, sliceIn } from '../../run/begin-in.ts';
import { callOf } from '../../sandbox-call.ts';
import { fromBeginning, scanned } from '../../scanned.ts';

type CalculationScanOptions = Parameters<typeof calculationScan>[0];

const scanOf = (call: Call, differences: Partial<CalculationScanOptions> = {}) =>
  calculationScan({ call, selection: {}, limit: 5_000, sleep: async () => undefined, ...differences });

async function published(sandbox: Sandbox, limit = 5_000) {
  const options = {
    store: createMemoryStore(),
    platform: 'acme.example.com',
    callCounts: noCalls,
    force: false,
    now: Date.now,
    random: Math.random,
  };
  const run = await beginIn(options.store);
  return await takeRun(run, scanOf(callOf(sandbox), { limit }) as Scan<unknown>, options);
}

type Body = {
  readonly sort: { readonly field: string; readonly ascending: boolean };
  readonly offset: number;
  readonly limit: number;
};

/** A call that responds with the rows that `rowsFor` returns, and the requested sort fields. */
function callWith(rowsFor: (body: Body) => readonly object[]) {
  const fields: string[] = [];
  const call = respondingCall(({ body }) => {
    const request = body as Body;
    fields.push(request.sort.field);
    return printJson({ results: rowsFor(request) });
  });
  return { call, fields };
}

const rows = (...ids: readonly number[]) => ids.map((id) => ({ id, created: id * 10 }));
const slice = (all: readonly object[], { sort, offset, limit }: Body) =>
  (sort.ascending ? all : all.toReversed()).slice(offset, offset + limit);

test('a platform that sorts by id gets no more requests once the caller stops', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const all = rows(1, 2, 3, 4, 5, 6, 7, 8, 9);
  const call = respondingCall(({ body }, signal) => {
    signals.push(signal);
    return printJson({ results: slice(all, body as Body) });
  });

  for await (const _ of scanOf(call, { limit: 3 })(fromBeginning)) break;

  expect(signals.map((signal) => signal?.aborted)).toEqual([undefined, true, true, true]);
});

test('rows without an id are named as missing, each once, and all other rows are taken', async () => {
  const margin = { name: 'Margin' };
  const all = [...rows(1, 2), margin, ...rows(3, 4), margin, ...rows(5, 6), {}, ...rows(7, 8)];
  const call = respondingCall(({ body }) =>
    printJson({ results: slice(all, body as Body), totalHits: all.length }),
  );
  const store = createMemoryStore();

  const { checkpoint } = await sliceIn(store, await beginIn(store), {
    scan: scanOf(call, { limit: 4 }) as Scan<unknown>,
  });

  expect(checkpoint).toMatchObject({ records: 8, outcome: { consistency: 'proved' } });
  expect(checkpoint.missing).toEqual([
    { id: '(no id) Margin', status: 200 },
    { id: '(no id)', status: 200 },
  ]);
});

describe('a platform that refuses to sort by id', () => {
  const refusedSortFields = ['id'];

  test('is read by creation and published, proved to contain every record as it was sent', async () => {
    await using sandbox = await startPlatform({ calculations: 3_000, refusedSortFields });

    const { lines, outcome } = await scanned(scanOf(callOf(sandbox), { limit: 700 }));
    const publication = await published(sandbox, 700);

    expect(lines.toSorted()).toEqual([...sandbox.calculations()].toSorted());
    expect(outcome).toMatchObject({ consistency: 'proved', order: 'created' });
    expect(publication).toMatchObject({
      kind: 'published',
      manifest: { records: 3_000, consistency: 'proved', order: 'created' },
    });
  });

  test('is not proved if its pages are smaller than an import, but is read to the end', async () => {
    await using sandbox = await startPlatform({ calculations: 600, refusedSortFields, pageCap: 12 });

    const { lines, outcome } = await scanned(scanOf(callOf(sandbox)));

    expect(lines.toSorted()).toEqual([...sandbox.calculations()].toSorted());
    expect(outcome).toMatchObject({ consistency: 'best-effort', order: 'none' });
  });

  test('and refuses to sort by creation too causes an error with the second refusal', async () => {
    const { call, fields } = callWith(() => {
      throw statusError(400);
    });

    await expect(scanned(scanOf(call))).rejects.toMatchObject({ failure: { kind: 'status', status: 400 } });
    expect(fields).toEqual(['id', 'created']);
  });

  test('after it has sorted by id causes an error, and is not read in another order', async () => {
    const { call, fields } = callWith((body) => {
      if (fields.length > 1) throw statusError(400);
      return slice(rows(1, 2, 3), body);
    });

    await expect(scanned(scanOf(call))).rejects.toMatchObject({ failure: { kind: 'status', status: 400 } });
    expect(new Set(fields)).toEqual(new Set(['id']));
  });

  test('after the scan was resumed causes an error, and is not read in another order', async () => {
    const { positions } = await scanned(scanOf(callWith((body) => slice(rows(1, 2, 3), body)).call));
    const { call, fields } = callWith(() => {
      throw statusError(400);
    });

    await expect(scanned(scanOf(call), { from: positions[0]?.position })).rejects.toMatchObject({
      failure: { kind: 'status', status: 400 },
    });
    expect(fields).toEqual(['id']);
  });

  test.each([200, 400, 422, 500, 503])('with %i is read by creation', async (status) => {
    const { call, fields } = callWith((body) => {
      if (body.sort.field === 'id') throw statusError(status);
      return slice(rows(1, 2, 3), body);
    });

    const { keys, outcome } = await scanned(scanOf(call));

    expect(keys).toEqual(['1', '2', '3']);
    expect(outcome).toMatchObject({ consistency: 'proved', order: 'created' });
    expect(fields.filter((field) => field === 'id')).toHaveLength(1);
  });

  test('by listing nothing although it reports records is read by creation', async () => {
    const call = respondingCall(({ body }) => {
      const request = body as Body;
      const results = request.sort.field === 'id' ? [] : slice(rows(1, 2, 3), request);
      return printJson({ results, totalHits: 3 });
    });

    const { keys, outcome } = await scanned(scanOf(call));

    expect(keys).toEqual(['1', '2', '3']);
    expect(outcome).toMatchObject({ consistency: 'proved', order: 'created' });
  });

  test('and lists nothing by creation either is not proved', async () => {
    const call = respondingCall(() => printJson({ results: [], totalHits: 3 }));

    const { outcome } = await scanned(scanOf(call));

    expect(outcome).toMatchObject({ consistency: 'best-effort', order: 'none', passes: 1 });
  });

  test.each([403, 404])('with %i causes an error, and is not read in another order', async (status) => {
    const { call, fields } = callWith(() => {
      throw statusError(status);
    });

    await expect(scanned(scanOf(call))).rejects.toMatchObject({ failure: { status } });
    expect(fields).toEqual(['id']);
  });
});

describe('a platform that does not keep the order', () => {
  test.each([
    ['of ids', []],
    ['of creation', ['id']],
  ])(
    '%s is read completely, each id once, and the run is refused as unproved',
    async (_what, refusedSortFields) => {
      await using sandbox = await startPlatform({
        calculations: 1_000,
        ignoreOrder: true,
        refusedSortFields,
      });

      const { lines, outcome } = await scanned(scanOf(callOf(sandbox), { limit: 300 }));
      const publication = await published(sandbox, 300);

      expect(lines.toSorted()).toEqual([...sandbox.calculations()].toSorted());
      expect(outcome).toMatchObject({ consistency: 'best-effort', order: 'none', refused: [] });
      expect(publication).toMatchObject({
        kind: 'refused',
        manifest: { records: 1_000, consistency: 'best-effort', refused: ['unproved'] },
      });
    },
  );

  test.each(['id', 'created'])(
    'of %s after a while is read further, without what was taken',
    async (field) => {
      let inOrder = true;
      const { call } = callWith((body) => {
        if (body.sort.field !== field) throw statusError(400);
        inOrder &&= !body.sort.ascending || body.offset === 0;
        return slice(inOrder ? rows(1, 2, 3, 7) : rows(2, 7, 9, 5), body);
      });

      const { keys, positions, outcome } = await scanned(scanOf(call, { limit: 3 }));

      expect(keys).toEqual(['1', '2', '3', '7', '9', '5']);
      expect(positions.map(({ position }) => position.at?.round)).toEqual([0, 1, 1, 1]);
      expect(new Set(positions.map(({ position }) => position.at?.field))).toEqual(new Set([field]));
      expect(outcome.consistency).toBe('best-effort');
    },
  );

  test('after a run was resumed is read further, without what was taken before', async () => {
    const ordered = callWith((body) => slice(rows(1, 2, 3, 4, 5, 6), body));
    const { positions } = await scanned(scanOf(ordered.call, { limit: 3 }));
    const shuffled = callWith(({ offset }) => rows(3, 1, 6, 2, 5, 4).slice(offset, offset + 3));

    const { keys, outcome } = await scanned(scanOf(shuffled.call, { limit: 3 }), {
      from: positions[0]?.position,
      taken: ['1', '2', '3'],
    });

    expect(keys).toEqual(['6', '5', '4']);
    expect(outcome).toMatchObject({ consistency: 'best-effort', order: 'none' });
  });

  test('and sends the same page forever makes the scan give up', async () => {
    const { call } = callWith(() => rows(3, 1, 2));

    await expect(scanned(scanOf(call))).rejects.toThrow('the scan made no progress');
  });
});
