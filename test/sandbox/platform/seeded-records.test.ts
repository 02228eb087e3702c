import { describe, expect, test } from 'vitest';
import { cpuMs } from '../../cpu-time.ts';
import { call, search, small, smallPlatform, stateOf } from './call-platform.ts';

describe('seeded records:', () => {
  test('the same seed gives the same bytes, and another seed gives different ones', async () => {
    const first = [...smallPlatform({ seed: 7 }).calculations()].join('\n');
    const again = [...smallPlatform({ seed: 7 }).calculations()].join('\n');
    const other = [...smallPlatform({ seed: 8 }).calculations()].join('\n');

    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('seeded records have the same bytes in every release', async () => {
    const [first] = smallPlatform({ seed: 1 }).calculations();

    expect(first).toBe(FIRST_ROW);
  });

  test('files, cards and data files are the same for the same seed', async () => {
    const [one, two] = [smallPlatform(), smallPlatform()];
    const ids = one.ids();
    const paths = [
      `/api/content/v1/datasources/${ids.datasets[0]}/cards`,
      `/api/data/v1/data-files/${ids.dataFiles[0]}/details?expand=revisions,metadata`,
    ];

    for (const path of paths) expect((await call(one, { path })).text).toBe((await call(two, { path })).text);
    expect(two.ids()).toEqual(ids);
    expect([...two.files(ids.fileSets[1] ?? '')]).toEqual([...one.files(ids.fileSets[1] ?? '')]);
  });

  test('an instance of the default size is created in less than a second and a half', async () => {
    const tookMs = await cpuMs(stateOf);
    const state = stateOf();

    expect(tookMs).toBeLessThan(1_500);
    expect(state.calculations.size()).toBe(20_000);
    expect(state.datasets).toHaveLength(400);
    expect(state.fileSets).toHaveLength(4);
    expect(state.dataFileIds).toHaveLength(200);
  });

  test('ids ascend in the order of creation, and the last ones are above 2^53', async () => {
    const { results } = await search(smallPlatform());
    const ids = results.map(({ id }) => BigInt(id));
    const created = results.map((row) => Number(row['created']));

    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(created).toEqual(created.toSorted((a, b) => a - b));
    expect(ids.filter((id) => id > 2n ** 53n)).toHaveLength(3);
    expect(ids.slice(-3).every((id) => BigInt(Number(id)) !== id)).toBe(true);
    expect(new Set(created).size).toBeLessThan(created.length);
  });

  test('the values that occur on a real platform occur in the sandbox', () => {
    const rows = [...smallPlatform({ calculations: 3000 }).calculations()].join('\n');

    for (const value of [
      ...'"INVALID" "ILLEGAL_REFERENCE" "INCOMPATIBLE_LINK" "FUNCTION_TEMPLATE" "DATA_SOURCE" "dr:'.split(
        ' ',
      ),
      ...'"archived":true "locked":true "global":true 前年比 Größe'.split(' '),
    ]) {
      expect(rows).toContain(value);
    }
  });

  test('a formula has the status of its calculation', () => {
    const { calculations, formulas } = stateOf({ ...small, calculations: 2000 });
    const drawn = calculations.byId().map((sequence) => calculations.at(sequence));

    const found = drawn.map(
      (calculation) => formulas.factsOf(calculation, formulas.expressionOf(calculation)).status,
    );

    expect(found).toEqual(drawn.map(({ status }) => status));
  });

  test('formulas are of many kinds', () => {
    const { calculations, formulas } = stateOf({ ...small, calculations: 2000 });
    const texts = calculations
      .byId()
      .map((sequence) => formulas.expressionOf(calculations.at(sequence)))
      .join('\n');

    for (const word of [
      ...[
        'FIXED (BY',
        'OVER (PARTITION BY',
        'CASE WHEN',
        'INTERVAL',
        ' IN (',
        ' LIKE ',
        'IS NULL',
        'COUNT(DISTINCT',
      ],
      ...['SERVICE_BEAST_MODE(', 'SERVICE_VARIABLE(', '/*', '--', 'DATE_FORMAT'],
    ]) {
      expect(texts).toContain(word);
    }
  });
});

const FIRST_ROW =
  '{"id":1008,"name":"Score – label","owner":100158909,"lastModified":1549471310664,"created":1547173904057,"global":false,"locked":false,"legacyId":"calculation_52058e3c-ff29-4f7f-be7f-f3e75ca55f01","status":"VALID","links":[{"resource":{"type":"DATA_SOURCE","id":"0a0c0fed-12bf-4f49-8c23-bc8d3c3af574"},"visible":true,"active":true,"valid":"VALID"},{"resource":{"type":"CARD","id":"1200141380:533"},"visible":false,"active":true,"valid":"VALID"}],"archived":false,"activeLinks":{"DATA_SOURCE":["0a0c0fed-12bf-4f49-8c23-bc8d3c3af574"],"CARD":["1200141380:533"]}}';
