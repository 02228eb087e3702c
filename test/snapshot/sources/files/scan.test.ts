import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startPlatform } from '../../../../lib/sandbox/platform/start-platform.ts';
import { filesScan } from '../../../../lib/snapshot/sources/files/scan.ts';
import { caught } from '../../../platform/caught.ts';
import { respondingCall, scriptedCall, statusError } from '../../responding-call.ts';
import { callOf } from '../../sandbox-call.ts';
import { fromBeginning, resumedEverywhere, scanned } from '../../scanned.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const OTHER = '1c9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c22';
const UNKNOWN = '2d9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c33';

const small = { calculations: 0, datasets: 1, cards: 0, dataFiles: 0 };

const page = (ids: readonly string[], next: unknown = null, total?: number) =>
  JSON.stringify({ files: ids.map((id) => ({ id })), pageContext: { next, total } });

function scanOf(texts: readonly string[], filesetIds: readonly string[] = [FILESET]) {
  const { call, inputs } = scriptedCall(texts);
  return { scan: filesScan({ call, filesetIds, search: {} }), inputs };
}

test('the scan reads every file of each FileSet in turn, and puts the FileSet’s id first', async () => {
  await using sandbox = await startPlatform({ ...small, fileSets: 2, filesPerSet: 250 });
  const [first = '', second = ''] = sandbox.ids().fileSets;
  const call = callOf(sandbox);

  const { keys, lines, totals, shares, outcome } = await scanned(
    filesScan({ call, filesetIds: [second, first.toUpperCase(), second], search: {}, limit: 100 }),
  );

  const sent = [second, first].flatMap((id) =>
    [...sandbox.files(id)].map((row) => `{"_filesetId":"${id}",${row.slice(1)}`),
  );
  expect(lines.toSorted()).toEqual(sent.toSorted());
  expect(keys).toEqual(lines.map((line) => `${JSON.parse(line)._filesetId}/${JSON.parse(line).id}`));
  expect(keys.slice(0, 250).every((key) => key.startsWith(`${second}/`))).toBe(true);
  expect(totals).toEqual([null, null, null, 500, 500, 500]);
  expect(shares).toEqual([0.2, 0.4, 0.5, 0.7, 0.9, 1]);
  expect(outcome).toEqual({
    consistency: 'proved',
    assumes: ['current-responses', 'fixed-creation-times', 'kept-order'],
    totals: { start: 500, end: 500 },
    passes: 1,
    order: 'created',
    missing: [],
    refused: [],
  });
});

test('a record is written as it was sent, byte for byte', async () => {
  const text = `{"files": [ {"id":"a","size":9007199254740993,"x":1.10} ,{ "id" : "b\\u00e9"  }], "pageContext":{"next":null}}`;

  const { keys, lines } = await scanned(scanOf([text]).scan);

  expect(keys).toEqual([`${FILESET}/a`, `${FILESET}/bé`]);
  expect(lines).toEqual([
    `{"_filesetId":"${FILESET}","id":"a","size":9007199254740993,"x":1.10}`,
    `{"_filesetId":"${FILESET}", "id" : "b\\u00e9"  }`,
  ]);
});

test.each([
  ['null', [page(['a'], 'k'), page(['b'], null)]],
  [
    'absent, beside a total',
    [page(['a'], 'k'), JSON.stringify({ files: [{ id: 'b' }], pageContext: { total: 2 } })],
  ],
  ['empty', [page(['a'], 'k'), page(['b'], '')]],
  ['the one that was sent', [page(['a'], 'k'), page(['b'], 'k')]],
  ['the one that was sent, on a page without files', [page(['a'], 'k'), page(['b'], 'l'), page([], 'l')]],
])('a list ends at a cursor that is %s', async (_, texts) => {
  const { scan } = scanOf([...texts, ...texts, page(['of the other'], null)], [FILESET, OTHER]);

  const { keys, outcome } = await scanned(scan);

  expect(keys).toEqual([`${FILESET}/a`, `${FILESET}/b`, `${OTHER}/of the other`]);
  expect(outcome).toMatchObject({
    consistency: 'proved',
    assumes: ['current-responses', 'not-missed-twice'],
    passes: 2,
    order: 'none',
    refused: [],
  });
});

test('a cursor that looks like a URL is sent as a cursor', async () => {
  const texts = [page(['a'], 'https://elsewhere.example/next'), page(['b'])];
  const { scan, inputs } = scanOf([...texts, ...texts]);

  await scanned(scan);

  expect(inputs.slice(0, 2).map(({ path, query }) => [path?.['filesetId'], query?.['next']])).toEqual([
    [FILESET, undefined],
    [FILESET, 'https://elsewhere.example/next'],
  ]);
});

test('totals are those of the first and the last page of each FileSet, and unknown if one page has none', async () => {
  const twice = [page(['a'], 'k', 2), page(['b'], null, 3), page(['a'], 'k', 2), page(['b'], null, 3)];
  const known = scanOf([...twice, page(['c'], null, 1)], [FILESET, OTHER]);
  const unknown = scanOf([page(['a'], null, 1), page(['c'], null)], [FILESET, OTHER]);

  expect((await scanned(known.scan)).outcome.totals).toEqual({ start: 3, end: 4 });
  expect((await scanned(unknown.scan)).outcome.totals).toEqual({ start: null, end: null });
});

test('a FileSet that does not exist, or that the token may not read, is missing, and does not make other FileSets fail', async () => {
  await using sandbox = await startPlatform({ ...small, fileSets: 2, filesPerSet: 20, forbidden: [OTHER] });
  const [first = '', second = ''] = sandbox.ids().fileSets;
  const filesetIds = [OTHER, first, UNKNOWN, second];

  const { keys, outcome } = await scanned(filesScan({ call: callOf(sandbox), filesetIds, search: {} }));

  expect(keys).toHaveLength(40);
  expect(outcome).toMatchObject({
    missing: [
      { id: OTHER, status: 403 },
      { id: UNKNOWN, status: 404 },
    ],
    refused: [],
  });
});

test('the run is incomplete if every FileSet is missing', async () => {
  await using sandbox = await startPlatform({ ...small, fileSets: 0 });
  const call = callOf(sandbox);

  const { outcome } = await scanned(filesScan({ call, filesetIds: [OTHER, UNKNOWN], search: {} }));

  expect(outcome).toMatchObject({ refused: ['incomplete'], missing: [{ id: OTHER }, { id: UNKNOWN }] });
});

describe('a FileSet', () => {
  /** A scan of three FileSets. `second` responds to the request for the second page of the second one. */
  function scanWith(second: () => string) {
    const call = respondingCall(({ path, query }) => {
      if (path?.['filesetId'] !== OTHER) return page(['b'], null, 1);
      return query?.['next'] === undefined ? page(['a'], 'k') : second();
    });
    return filesScan({ call, filesetIds: [FILESET, OTHER, UNKNOWN], search: {} });
  }

  test.each([400, 403, 404, 409, 410, 500, 503])(
    'with a %i after half of its pages is missing, without a record, and does not make other FileSets fail',
    async (status) => {
      const scan = scanWith(() => {
        throw statusError(status);
      });

      const { keys, outcome } = await scanned(scan);
      const { whole, resumed } = await resumedEverywhere(scan);

      expect(keys).toEqual([`${FILESET}/b`, `${UNKNOWN}/b`]);
      expect(outcome).toMatchObject({ refused: [], missing: [{ id: OTHER, status }] });
      for (const each of resumed) expect(each).toEqual(whole);
    },
  );

  test('whose responses repeatedly are not pages is missing', async () => {
    const { outcome } = await scanned(scanWith(() => '{"message":"hello"}'));

    expect(outcome).toMatchObject({ refused: [], missing: [{ id: OTHER, status: 200 }] });
  });

  test('that failed, and responds again, is read from where it stopped', async () => {
    let failures = 1;
    const scan = scanWith(() => {
      failures -= 1;
      if (failures === 0) throw statusError(500);
      return page(['c'], null);
    });

    const { keys, outcome } = await scanned(scan);

    expect(keys).toEqual([`${FILESET}/b`, `${OTHER}/a`, `${OTHER}/c`, `${UNKNOWN}/b`]);
    expect(outcome.missing).toEqual([]);
  });

  test('whose first page failed once, and that responds again, is read', async () => {
    let failures = 1;
    const call = respondingCall(({ path }) => {
      failures -= 1;
      if (failures === 0) throw statusError(500);
      return page([path?.['filesetId'] === OTHER ? 'b' : 'a'], null, 1);
    });

    const { keys, outcome } = await scanned(filesScan({ call, filesetIds: [FILESET, OTHER], search: {} }));

    expect(keys).toEqual([`${FILESET}/a`, `${OTHER}/b`]);
    expect(outcome.missing).toEqual([]);
  });

  test('that responds again after each failure is resumed three times, then its error is thrown', async () => {
    let requests = 0;
    const scan = scanWith(() => {
      requests += 1;
      // After each failure, the page is requested once more to see whether the platform responds again.
      if (requests % 2 === 1) throw statusError(500);
      return page(['c'], null);
    });

    await expect(scanned(scan)).rejects.toMatchObject({ failure: { status: 500 } });
    expect(requests).toBe(8);
  });

  test('that fails when all other FileSets fail too stops the scan', async () => {
    let isDown = false;
    const call = respondingCall(() => {
      if (isDown) throw statusError(503);
      isDown = true;
      return page(['a'], null, 1);
    });
    const scan = filesScan({ call, filesetIds: [FILESET, OTHER, UNKNOWN], search: {} });

    await expect(scanned(scan)).rejects.toMatchObject({ failure: { kind: 'status', status: 503 } });
  });
});

test('a response that is not a page is refused, and the error names the FileSet', async () => {
  const error = await caught(scanned(scanOf(['{"message":"hello"}']).scan));

  expect(error.failure).toEqual({ kind: 'shape', faults: ['files: expected an array'] });
  expect(error.message).toContain(`files of FileSet ${FILESET}`);
});

test('a scan that is resumed from any position reads exactly the rest and has the same outcome', async () => {
  await using sandbox = await startPlatform({ ...small, fileSets: 3, filesPerSet: 23, forbidden: [OTHER] });
  const [first = '', second = '', third = ''] = sandbox.ids().fileSets;
  const call = callOf(sandbox);
  const filesetIds = [first, OTHER, second, third];

  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 3, max: 30 }), async (limit) => {
      const { whole, resumed } = await resumedEverywhere(filesScan({ call, filesetIds, search: {}, limit }));

      expect(whole.lines).toHaveLength(69);
      for (const each of resumed) expect(each).toEqual(whole);
    }),
    { numRuns: 5 },
  );
});

test.each([
  [10, 4],
  [10, 8],
  [40, 0],
  [12, 10],
])(
  'a list of %i pages that leads back to page %i ends, from any position, and is not proved',
  async (pages, back) => {
    const call = respondingCall(({ query }) => {
      const at = Number(query?.['next'] ?? 0);
      return page([String(at)], String(at === pages - 1 ? back : at + 1));
    });

    const { whole, resumed } = await resumedEverywhere(
      filesScan({ call, filesetIds: [FILESET], search: {} }),
    );

    expect(whole.lines).toHaveLength(pages);
    expect(whole.outcome.consistency).toBe('best-effort');
    for (const each of resumed) expect(each).toEqual(whole);
  },
);

describe('the requests', () => {
  /** The limits that a scan requests, given a search and a limit of its own. */
  async function limitsOf(search: object, limit?: number) {
    const { call, inputs } = scriptedCall([page(['a'], null)]);
    await scanned(filesScan({ call, filesetIds: [FILESET], search, limit }));
    return inputs.map(({ query }) => query?.['limit']);
  }

  test('have the page size of the scan, or else the limit in its search, or else 1000', async () => {
    expect(await limitsOf({ limit: 5 }, 7)).toEqual([7]);
    expect(await limitsOf({ limit: 5 })).toEqual([5]);
    expect(await limitsOf({})).toEqual([1_000]);
  });
});

test('each FileSet begins a segment with its first file, only once, and restarts it when it is read again', async () => {
  const first = [page([], 'k'), page(['a'], 'l'), page(['b'], 'm'), page([])];
  const second = [page(['c'], 'k'), page([])];
  const { scan } = scanOf([...first, ...first, ...second, ...second], [FILESET, OTHER]);
  const steps: unknown[] = [];

  for await (const { segment, position } of scan(fromBeginning)) steps.push([segment, position.hasBegun]);

  expect(steps).toEqual([
    [undefined, false],
    ['begins', true],
    [undefined, true],
    ['restarts', true],
    [undefined, true],
    [undefined, true],
    [undefined, true],
    [undefined, false],
    ['begins', true],
    ['restarts', true],
    [undefined, true],
    [undefined, false],
  ]);
});

test('a FileSet after one that turned out to be missing begins a segment of its own', async () => {
  let refusals = 0;
  const call = respondingCall(({ path, query }) => {
    if (query?.['next'] === undefined) return page(['a'], 'k');
    if (path?.['filesetId'] === OTHER) {
      refusals += 1;
      throw statusError(404);
    }
    return page(['b']);
  });
  const steps: unknown[] = [];

  for await (const { segment, position } of filesScan({ call, filesetIds: [OTHER, FILESET], search: {} })(
    fromBeginning,
  ))
    steps.push([segment, position.hasBegun]);

  expect(steps).toEqual([
    ['begins', true],
    ['restarts', false],
    ['begins', true],
    ['restarts', true],
    [undefined, true],
    [undefined, false],
  ]);
  expect(refusals).toBe(1);
});

test('the claimed consistency is the weakest of all FileSets, and the totals are unknown if the totals of one FileSet are', async () => {
  const single = page(['a'], null, 1);
  const twice = [page(['a'], 'k'), page(['b']), page(['a'], 'k'), page(['b'])];
  const twisted = [page(['a'], 'k'), page(['a', 'b'], 'l')];
  const doubtful = [...twisted, ...twisted, ...twisted, page(['c'])];
  const outcomeOf = async (...texts: readonly string[]) => {
    const { assumes, passes, totals } = (await scanned(scanOf(texts, [FILESET, OTHER]).scan)).outcome;
    return [assumes, passes, totals.end];
  };

  expect(await outcomeOf(single, single)).toEqual([['current-responses'], 1, 2]);
  expect(await outcomeOf(single, ...twice)).toEqual([['current-responses', 'not-missed-twice'], 2, null]);
  expect(await outcomeOf(...twice, single)).toEqual([['current-responses', 'not-missed-twice'], 2, null]);
  expect(await outcomeOf(...doubtful, single)).toEqual([[], 3, null]);
  expect(await outcomeOf(single, ...doubtful)).toEqual([[], 3, null]);
});
