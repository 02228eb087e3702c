import { describe, expect, test } from 'vitest';
import type { FileRow } from '../../../lib/sandbox/platform/files/file-set.ts';
import { call, type PlatformApp, smallPlatform } from './call-platform.ts';

type Page = {
  readonly files: readonly FileRow[];
  readonly pageContext: {
    readonly next: string | null;
    readonly offset: number;
    readonly limit: number;
    readonly total: number;
  };
};

const platform = smallPlatform();
const [fileSetId = ''] = platform.ids().fileSets;
const pathOf = (query: string, id = fileSetId) => `/api/files/v1/filesets/${id}/files/search?${query}`;
const all = platform.state.fileSets[0]?.rows() ?? [];

const page = async (query: string, body: object = {}, from: PlatformApp = platform) =>
  (await call(from, { path: pathOf(query), body })).json as Page;

const byPath = (a: FileRow, b: FileRow) => (a.path < b.path ? -1 : 1);
const files = all.filter(({ fileType }) => fileType !== 'DIRECTORY');
const one = files[10] ?? all[0];
const FIELDS = Object.keys(one ?? {}) as (keyof FileRow)[];

describe('searching files:', () => {
  test('a page has 100 rows by default', async () => {
    const { files: rows, pageContext } = await page('');

    expect(rows).toEqual(all.toSorted(byPath).slice(0, 100));
    expect(pageContext).toEqual({ next: expect.any(String), offset: 0, limit: 100, total: 600 });
  });

  test('directories are rows without a size or a hash', () => {
    const directories = all.filter(({ fileType }) => fileType === 'DIRECTORY');

    expect(directories.length).toBeGreaterThan(5);
    expect(directories.every(({ size, hash }) => size === null && hash === null)).toBe(true);
  });

  test('each file is in a directory that exists', () => {
    const directories = new Set([
      '',
      ...all.filter(({ fileType }) => fileType === 'DIRECTORY').map(({ path }) => path),
    ]);

    expect(all.every(({ path }) => directories.has(path.slice(0, path.lastIndexOf('/'))))).toBe(true);
    expect(new Set(all.map(({ path }) => path)).size).toBe(600);
  });

  test('the last page returns the page token that it was requested with', async () => {
    const first = await page('limit=250');
    const second = await page(`limit=250&next=${first.pageContext.next}`);
    const last = await page(`limit=250&next=${second.pageContext.next}`);

    expect([...first.files, ...second.files, ...last.files]).toEqual(all.toSorted(byPath));
    expect(last.pageContext).toEqual({ next: second.pageContext.next, offset: 500, limit: 250, total: 600 });
  });

  test('next is null if there are no rows, and on a single page', async () => {
    const none = await page('', {
      filters: [{ field: 'name', operator: 'EQUALS', value: ['no such file'] }],
    });
    const only = await page('limit=1000');

    expect(none).toEqual({ files: [], pageContext: { next: null, offset: 0, limit: 100, total: 0 } });
    expect(only.pageContext.next).toBeNull();
  });

  test('a page token stays valid when its row and other rows have been deleted', async () => {
    const changing = smallPlatform();
    const [fileSet] = changing.state.fileSets;
    const first = await page('limit=100', {}, changing);
    for (const { id } of first.files) fileSet?.delete(id);

    const second = await page(`limit=100&next=${first.pageContext.next}`, {}, changing);

    expect(second.files).toEqual(all.toSorted(byPath).slice(100, 200));
  });

  test('an empty page that was requested with a page token has no next one', async () => {
    const changing = smallPlatform();
    const [fileSet] = changing.state.fileSets;
    const first = await page('limit=500', {}, changing);
    for (const { id } of all.toSorted(byPath).slice(500)) fileSet?.delete(id);

    const second = await page(`limit=500&next=${first.pageContext.next}`, {}, changing);

    expect(second.files).toEqual([]);
    expect(second.pageContext.next).toBeNull();
  });

  test('a directory selects everything below it, or its immediate children', async () => {
    const directory =
      all.find(
        ({ fileType, path }) =>
          fileType === 'DIRECTORY' &&
          all.some((row) => row.path.startsWith(`${path}/`) && row.path.slice(path.length + 1).includes('/')),
      )?.path ?? '';
    const below = all.filter(({ path }) => path.startsWith(`${directory}/`)).toSorted(byPath);

    const deep = await page(`limit=1000&directoryPath=${encodeURIComponent(directory.slice(1))}`);
    const near = await page(
      `limit=1000&directoryPath=${encodeURIComponent(`${directory}/`)}&immediateChildren=true`,
    );

    expect(deep.files).toEqual(below);
    expect(near.files).toEqual(below.filter(({ path }) => !path.slice(directory.length + 1).includes('/')));
    expect(near.files.length).toBeLessThan(deep.files.length);
  });
});

describe('filters of files:', () => {
  const size = one?.size ?? 0;
  const name = one?.name ?? '';
  const by = one?.createdBy ?? 0;
  const cases: readonly [string, keyof FileRow, string[], (row: FileRow) => boolean][] = [
    ['EQUALS', 'fileType', ['IMAGE'], (row) => row.fileType === 'IMAGE'],
    ['EQUALS', 'createdBy', [String(by)], (row) => row.createdBy === by],
    ['IN', 'fileType', ['TEXT', 'AUDIO'], (row) => ['TEXT', 'AUDIO'].includes(row.fileType)],
    ['LIKE', 'name', ['REPORT'], (row) => row.name.toLowerCase().includes('report')],
    ['IS_NULL', 'size', [], (row) => row.size === null],
    ['GREATER_THAN', 'size', [String(size)], (row) => row.size !== null && row.size > size],
    ['GREATER_THAN_OR_EQUAL', 'size', [String(size)], (row) => row.size !== null && row.size >= size],
    ['LESS_THAN', 'size', [String(size)], (row) => row.size !== null && row.size < size],
    ['less_than_or_equal', 'name', [name], (row) => row.name <= name],
  ];

  test.each(cases)(
    'the filter %s of %s selects the matching files, and with `not` all other files',
    async (operator, field, value, wanted) => {
      const filter = { field, operator, value };
      const matching = await page('limit=1000', { filters: [filter] });
      const rest = await page('limit=1000', { filters: [{ ...filter, not: true }] });

      expect(matching.files).toEqual(all.filter(wanted).toSorted(byPath));
      expect(matching.files.length).toBeGreaterThan(0);
      expect(rest.files).toEqual(all.filter((row) => !wanted(row)).toSorted(byPath));
    },
  );

  test('date filters include both ends, and either may be missing', async () => {
    const [early, late] = [
      all.map(({ created }) => created).toSorted()[100],
      all.map(({ created }) => created).toSorted()[200],
    ];
    const dates = async (filter: object) =>
      (await page('limit=1000', { dateFilters: [{ field: 'created', ...filter }] })).pageContext.total;

    expect(await dates({ start: early, end: late })).toBe(101);
    expect(await dates({ start: early, end: late, not: true })).toBe(499);
    expect(await dates({ start: early })).toBe(500);
    expect(await dates({ end: late })).toBe(201);
  });

  test.each(FIELDS)('rows are ordered by %s in both directions, across pages', async (field) => {
    const sorted = async (order: string) => {
      const body = { fieldSort: [{ field, order }] };
      const first = await page('limit=300', body);
      const second = await page(`limit=300&next=${first.pageContext.next}`, body);
      return [...first.files, ...second.files].map((row) => row[field]);
    };

    const up = await sorted('ASC');
    const down = await sorted('desc');

    expect(up).toEqual(up.toSorted(compareCells));
    expect(down).toEqual(up.toReversed());
  });

  test.each([
    ['an unknown FileSet', 404, pathOf('', '00000000-0000-4000-8000-000000000000'), {}],
    ['a FileSet id that is not a UUID', 400, pathOf('', 'files'), {}],
    ['a limit above 1,000', 400, pathOf('limit=1001'), {}],
    ['a limit of 0', 400, pathOf('limit=0'), {}],
    ['an invalid token', 400, pathOf('next=abc'), {}],
    [
      'an unknown field',
      400,
      pathOf(''),
      { filters: [{ field: 'colour', operator: 'EQUALS', value: ['x'] }] },
    ],
    [
      'an unknown operator',
      400,
      pathOf(''),
      { filters: [{ field: 'name', operator: 'toString', value: ['x'] }] },
    ],
    ['no value', 400, pathOf(''), { filters: [{ field: 'name', operator: 'EQUALS', value: [] }] }],
    ['an unknown sort field', 400, pathOf(''), { fieldSort: [{ field: 'colour', order: 'ASC' }] }],
    ['an unknown order', 400, pathOf(''), { fieldSort: [{ field: 'name', order: 'UP' }] }],
    ['an unknown date field', 400, pathOf(''), { dateFilters: [{ field: 'name' }] }],
  ])('%s gets %i', async (_, status, path, body) => {
    expect((await call(platform, { path, body })).status).toBe(status);
  });

  test('a page token from a request with another order gets 400', async () => {
    const first = await page('limit=10', { fieldSort: [{ field: 'size', order: 'ASC' }] });

    const { status } = await call(platform, { path: pathOf(`next=${first.pageContext.next}`), body: {} });

    expect(status).toBe(400);
  });
});

function compareCells(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}
