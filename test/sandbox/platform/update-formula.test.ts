import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { call, type PlatformApp, search, smallPlatform } from './call-platform.ts';

const pathOf = (id: string) => `/api/query/v1/functions/template/${id}`;

const LINK = (id: string, valid: string) => ({
  resource: { type: 'FUNCTION_TEMPLATE', id },
  visible: false,
  active: valid === 'VALID',
  valid,
});

/** A calculation on a dataset, and a numeric column of the dataset. */
function onDataset({ state }: PlatformApp, last = false) {
  const { calculations, datasets } = state;
  const all = calculations
    .byId()
    .map((sequence) => calculations.at(sequence))
    .filter(({ datasetIndex }) => datasetIndex !== undefined);
  const calculation = all.at(last ? -1 : 0);
  const dataset = datasets[calculation?.datasetIndex ?? 0];
  const column = dataset?.columns.find(({ type }) => type === 'DECIMAL' || type === 'LONG')?.name ?? '';
  return { id: calculation?.id ?? '', lastModified: calculation?.lastModified ?? 0, column };
}

describe('updating a formula', () => {
  test('the response is the whole calculation, computed from the new formula', async () => {
    const platform = smallPlatform();
    const { id, column } = onDataset(platform);
    const expression = `SUM(\`${column}\`) / 2 -- é`;

    const { status, json } = await call(platform, { path: pathOf(id), body: { expression } });

    expect(status).toBe(200);
    expect(json).toMatchObject({
      id: Number(id),
      expression,
      checkSum: createHash('sha1').update(expression, 'utf8').digest('hex'),
      functions: ['SERVICE_OP_DIVIDE', 'SUM'],
      columnPositions: [{ columnName: `\`${column}\``, columnPosition: 4 }],
      aggregated: true,
      analytic: false,
      nonAggregatedColumns: [],
      dataType: 'DECIMAL',
      status: 'VALID',
    });
  });

  test('PUT does the same as POST', async () => {
    const platform = smallPlatform();
    const { id } = onDataset(platform);

    const { json } = await call(platform, { method: 'PUT', path: pathOf(id), body: { expression: '1 + 1' } });

    expect(json).toMatchObject({ expression: '1 + 1', dataType: 'LONG' });
    expect(platform.counts().formulaUpdates).toEqual({ [id]: 1 });
  });

  test('lastModified increases even if the clock does not, and the search returns it', async () => {
    const platform = smallPlatform({ now: () => 0 });
    const { id, lastModified } = onDataset(platform);

    await call(platform, { path: pathOf(id), body: { expression: '1' } });
    const { json } = await call(platform, { path: pathOf(id), body: { expression: '2' } });

    expect(json).toMatchObject({ lastModified: lastModified + 2 });
    const row = (await search(platform)).results.find((each) => String(each.id) === id);
    expect(row).toMatchObject({ lastModified: lastModified + 2 });
  });

  test('an id above 2^53 is found by exactly its digits', async () => {
    const platform = smallPlatform();
    const { id } = onDataset(platform, true);
    const neighbour = String(BigInt(id) + 1n);

    const { text } = await call(platform, { path: pathOf(id), body: { expression: '1' } });

    expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
    expect(text.startsWith(`{"id":${id},`)).toBe(true);
    expect((await call(platform, { path: pathOf(neighbour), body: { expression: '1' } })).status).toBe(404);
  });

  test.each([
    ['does not parse', 'SUM('],
    ['uses a column that the dataset lacks', 'SUM(`No such column`)'],
  ])('a formula that %s is stored as INVALID, and refused under strict', async (_, expression) => {
    const platform = smallPlatform();
    const { id } = onDataset(platform);

    const strict = await call(platform, { path: `${pathOf(id)}?strict=true`, body: { expression } });
    const updates = platform.counts().formulaUpdates;
    const loose = await call(platform, { path: `${pathOf(id)}?strict=false`, body: { expression } });

    expect(strict.status).toBe(400);
    expect(updates).toEqual({});
    expect(loose.json).toMatchObject({ expression, status: 'INVALID' });
  });

  test('a reference becomes a dependency and a link of the whole record, and is illegal if the calculation is missing', async () => {
    const platform = smallPlatform();
    const { id } = onDataset(platform);
    const target = platform.state.calculations.at(5).id;

    const good = await call(platform, {
      path: pathOf(id),
      body: { expression: `SERVICE_BEAST_MODE(${target}) + 1` },
    });
    const bad = await call(platform, { path: pathOf(id), body: { expression: 'SERVICE_BEAST_MODE(4) + 1' } });

    expect(good.json).toMatchObject({
      status: 'VALID',
      functionTemplateDependencies: [Number(target)],
      links: expect.arrayContaining([LINK(target, 'VALID')]),
    });
    expect(good.json).not.toHaveProperty('activeLinks.FUNCTION_TEMPLATE');
    expect(bad.json).toMatchObject({
      status: 'INVALID',
      links: expect.arrayContaining([LINK('4', 'ILLEGAL_REFERENCE')]),
    });
  });

  test.each([
    ['404 for an unknown id', 404, pathOf('4'), { expression: '1' }],
    ['400 for an id that is not an integer', 400, pathOf('abc'), { expression: '1' }],
    ['400 without an expression', 400, pathOf('1008'), {}],
    ['400 for an expression of blanks', 400, pathOf('1008'), { expression: '  ' }],
    [
      '400 for strict that is neither true nor false',
      400,
      `${pathOf('1008')}?strict=maybe`,
      { expression: '1' },
    ],
  ])('the response to an invalid update is %s', async (_, status, path, body) => {
    expect((await call(smallPlatform(), { path, body })).status).toBe(status);
  });
});
