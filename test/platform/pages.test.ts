import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { caught, thrown } from './caught.ts';
import { fakeCall, ok } from './fake-call.ts';
import { calculationRow, calculations, file, files } from './sample-records.ts';

const sort = { field: 'id', ascending: true };
const fileset = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';
const row = (id: number) => calculationRow({ id });
const more = (...rows: readonly unknown[]) => ok({ ...calculations(...rows), hasMore: true });

describe('pages of calculations', () => {
  test('advance by the number of received rows, and end with a short page that says it is the last', async () => {
    const { platform, sent } = fakeCall([more(row(1), row(2)), more(row(3)), ok(calculations(row(4)))]);

    const pages = await Array.fromAsync(platform.calculations.pages({ sort, limit: 2 }));

    expect(pages.map((page) => page.rows.map(({ id }) => id))).toEqual([['1', '2'], ['3'], ['4']]);
    expect(sent.map(({ request }) => request.body)).toEqual([
      '{"filters":[],"sort":{"field":"id","ascending":true},"limit":2,"offset":0}',
      '{"filters":[],"sort":{"field":"id","ascending":true},"limit":2,"offset":2}',
      '{"filters":[],"sort":{"field":"id","ascending":true},"limit":2,"offset":3}',
    ]);
  });

  test('end at an empty page, even one that announces more', async () => {
    const { platform, sent } = fakeCall([more(row(1)), more()]);

    const pages = await Array.fromAsync(platform.calculations.pages({ sort }));

    expect(pages).toHaveLength(1);
    expect(sent).toHaveLength(2);
  });

  test('end at a page that repeats the previous one', async () => {
    const { platform, sent } = fakeCall([more(row(1), row(2)), more(row(1), row(2))]);

    const pages = await Array.fromAsync(platform.calculations.pages({ sort, limit: 2 }));

    expect(pages).toHaveLength(1);
    expect(sent).toHaveLength(2);
  });

  test('report the total number of rows, and whether they are degraded', async () => {
    const { platform } = fakeCall([
      ok({ ...calculations(row(1)), totalHits: 900, degraded: true, hasMore: true }),
      ok({ results: [row(2)], hasMore: false }),
    ]);

    const pages = await Array.fromAsync(platform.calculations.pages({ sort }));

    expect(pages).toMatchObject([
      { total: 900, degraded: true },
      { total: undefined, degraded: false },
    ]);
  });

  test('are requested lazily', async () => {
    const { platform, sent } = fakeCall([more(row(1)), more(row(2))]);
    const pages = platform.calculations.pages({ sort, limit: 1 });

    const first = await pages.next();
    await pages.return(undefined);

    expect(first.value).toMatchObject({ rows: [{ id: '1' }] });
    expect(sent).toHaveLength(1);
  });

  test('beyond the maximum number of pages are an error', async () => {
    let id = 0;
    const { platform, sent } = fakeCall([
      async () => {
        id += 1;
        return more(row(id));
      },
    ]);

    const error = await caught(Array.fromAsync(platform.calculations.pages({ sort }, { maxPages: 3 })));

    expect(error.failure).toEqual({ kind: 'endless', pages: 3 });
    expect(error.message).toBe(
      'searchCalculations (calculations) failed: the list did not end within 3 pages',
    );
    expect(sent).toHaveLength(3);
  });
});

describe('pages of files', () => {
  test('follow the cursor and end when it is null', async () => {
    const { platform, sent } = fakeCall([
      ok(files('b', file({ name: '1' }))),
      ok(files(null, file({ name: '2' }))),
    ]);

    const pages = await Array.fromAsync(platform.files.pages(fileset));

    expect(pages.map((page) => page.rows.map(({ name }) => name))).toEqual([['1'], ['2']]);
    expect(sent.map(({ request }) => request.target)).toEqual([
      `/api/files/v1/filesets/${fileset}/files/search`,
      `/api/files/v1/filesets/${fileset}/files/search?next=b`,
    ]);
  });

  test('end at a page without a list, even one with a total', async () => {
    const empty = { next: null, offset: 1, limit: 100 };
    const { platform } = fakeCall([
      ok(files('b', file())),
      ok({ pageContext: { ...empty, total: 1 } }),
      ok({ pageContext: empty }),
    ]);

    const pages = await Array.fromAsync(platform.files.pages(fileset));
    const none = await Array.fromAsync(platform.files.pages(fileset));

    expect([pages.length, none.length]).toEqual([1, 0]);
  });

  test('end at a cursor that was followed before', async () => {
    const { platform, sent } = fakeCall([
      ok(files('b', file())),
      ok(files('c', file())),
      ok(files('b', file())),
    ]);

    const pages = await Array.fromAsync(platform.files.pages(fileset));

    expect(pages).toHaveLength(3);
    expect(sent).toHaveLength(3);
  });

  test.for([
    { files: [file()] },
    { files: [file()], pageContext: null },
    { files: [file()], pageContext: {} },
    { files: [file()], pageContext: { next: '' } },
  ])('end without a cursor: %j', async (response) => {
    const { platform, sent } = fakeCall([ok(response)]);

    const pages = await Array.fromAsync(platform.files.pages(fileset));

    expect(pages).toHaveLength(1);
    expect(sent).toHaveLength(1);
  });
});

describe('a list ends', () => {
  const anyCursor = fc.oneof(
    fc.constantFrom('a', 'b', 'c', '', null, undefined, 0, 5, false, true, {}, [], ['a']),
    fc.string({ maxLength: 3 }),
  );
  const anyFiles = fc.oneof(fc.constantFrom(null, undefined, [], {}, 'x', 3, [null], [file()], [file(), {}]));
  const anyResults = fc.oneof(
    fc.constantFrom(null, undefined, [], {}, 'x', 3, [null]),
    fc.array(fc.nat({ max: 5 }).map(row), { maxLength: 4 }),
  );
  const anyFlag = fc.constantFrom(true, false, null, undefined, 'true', 0);
  const anyLimit = fc.oneof(fc.integer({ min: -1, max: 5001 }), fc.constantFrom(undefined, 0.5, Number.NaN));
  const maxPages = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(Number.NaN));
  const anyBody = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(null, [], 'text', 0));

  const filesResponse = fc.oneof(
    { weight: 5, arbitrary: fc.record({ files: anyFiles, pageContext: fc.record({ next: anyCursor }) }) },
    { weight: 5, arbitrary: anyCursor.map((next) => files(next, file())) },
    { weight: 1, arbitrary: anyBody },
  );
  const totalHits = fc.constantFrom(0, 9, null);
  const calculationsResponse = fc.oneof(
    { weight: 8, arbitrary: fc.record({ results: anyResults, hasMore: anyFlag, totalHits }) },
    { weight: 1, arbitrary: anyBody },
  );

  test.for([
    ['files', filesResponse],
    ['calculations', calculationsResponse],
  ] as const)('of %s, whatever the limit or body', async ([kind, response]) => {
    const script = fc.array<unknown>(response, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(script, anyLimit, maxPages, async (responses, limit, most) => {
        const { platform, sent } = fakeCall(responses.map(ok));
        const search = limit === undefined ? {} : { limit };
        const options = { maxPages: most };

        const end = await ending(
          kind === 'files'
            ? platform.files.pages(fileset, search, options)
            : platform.calculations.pages({ sort, ...search }, options),
        );

        expect(['done', 'input', 'shape', 'endless']).toContain(end);
        expect(sent.length).toBeLessThanOrEqual(most || 0);
      }),
    );
  });

  async function ending(pages: AsyncIterable<unknown>): Promise<string> {
    try {
      for await (const _ of pages);
      return 'done';
    } catch (error) {
      if (error instanceof PlatformError) return error.failure.kind;
      throw error;
    }
  }
});

describe('the caller’s abort ends a list with its own reason', () => {
  test('between two pages', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const { platform } = fakeCall([
      more(row(1)),
      async (signal) => {
        abort.abort(reason);
        signal?.throwIfAborted();
        return more(row(2));
      },
    ]);
    const pages = platform.calculations.pages({ sort, limit: 1 }, { signal: abort.signal });

    await pages.next();
    const error = await thrown(pages.next());

    expect(error).toBe(reason);
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });
});
