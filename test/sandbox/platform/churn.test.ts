import { describe, expect, test } from 'vitest';
import { call, search, small, smallPlatform } from './call-platform.ts';

describe('churn', () => {
  test('with the same steps and seed makes the same changes', () => {
    const [one, two] = [smallPlatform(), smallPlatform()];

    const done = one.churn(200);
    const again = two.churn(200);

    expect(again).toEqual(done);
    expect([...two.calculations()]).toEqual([...one.calculations()]);
    expect(Object.keys(done).toSorted()).toEqual([
      'calculation added',
      'calculation changed',
      'calculation deleted',
      'file added',
      'file changed',
      'file deleted',
    ]);
  });

  test('gives an added calculation the highest id, and creates it after the others', async () => {
    const platform = smallPlatform();
    const highest = BigInt((await search(platform)).results.at(-1)?.id ?? 0);

    const added = platform.state.calculations.add();

    const last = (await search(platform)).results.at(-1);
    expect(String(last?.id)).toBe(added.id);
    expect(BigInt(added.id)).toBeGreaterThan(highest);
    expect(last).toMatchObject({ created: small.now(), lastModified: small.now() });
  });

  test('keeps the orders by id and by name correct while records are added, changed and deleted', async () => {
    const platform = smallPlatform();
    await search(platform, { sort: { field: 'name', ascending: true } });

    platform.churn(500);

    const byId = (await search(platform)).results;
    const byName = (await search(platform, { sort: { field: 'name', ascending: true } })).results;
    const keys = byName.map(({ name, id }) => [name.toLowerCase(), BigInt(id)] as const);
    expect(byName.map(({ id }) => String(id)).toSorted()).toEqual(
      byId.map(({ id }) => String(id)).toSorted(),
    );
    expect(keys).toEqual(keys.toSorted(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1)));
    expect(byId.map(({ id }) => BigInt(id))).toEqual(
      byId.map(({ id }) => BigInt(id)).toSorted((a, b) => (a < b ? -1 : 1)),
    );
  });

  test('removes a deleted calculation everywhere', async () => {
    const platform = smallPlatform();
    const { id, name } = platform.state.calculations.at(10);

    platform.state.calculations.delete(id);

    const { results } = await search(platform, { name });
    const update = await call(platform, {
      path: `/api/query/v1/functions/template/${id}`,
      body: { expression: '1' },
    });
    expect(results.map((row) => String(row.id))).not.toContain(id);
    expect(update.status).toBe(404);
    expect(platform.state.calculations.delete(id)).toBe(false);
  });
});

describe('the set of records that existed throughout a time span', () => {
  test('includes those created before its start and still present after its end', () => {
    let nowMs = 1000;
    const platform = smallPlatform({ calculations: 4, now: () => nowMs });
    const { calculations } = platform.state;
    const [first = '', second = '', third = '', fourth = ''] = [0, 1, 2, 3].map(
      (sequence) => calculations.at(sequence).id,
    );
    const early = calculations.add().id;
    nowMs = 2500;
    calculations.delete(second);
    calculations.change(third, { name: 'renamed' });
    const late = calculations.add().id;
    nowMs = 4000;
    calculations.delete(fourth);
    calculations.delete(late);

    const lived = platform.livedThrough(2000, 3000);

    expect(lived).toEqual([first, third, fourth, early]);
  });

  test('excludes those added or deleted in the same millisecond as its start or end', () => {
    let nowMs = 1000;
    const platform = smallPlatform({ calculations: 3, now: () => nowMs });
    const { calculations } = platform.state;
    const ids = [0, 1, 2].map((sequence) => calculations.at(sequence).id);
    calculations.add();
    nowMs = 2000;
    calculations.delete(ids[2] ?? '');

    expect(platform.livedThrough(1000, 2000)).toEqual(ids.slice(0, 2));
  });

  test('is also known for the files of a FileSet', () => {
    let nowMs = 1000;
    const platform = smallPlatform({ fileSets: 1, filesPerSet: 3, now: () => nowMs });
    const [fileSet] = platform.state.fileSets;
    const [first = '', second = '', third = ''] = fileSet?.rows().map(({ id }) => id) ?? [];
    nowMs = 2000;
    fileSet?.delete(second);
    fileSet?.add();

    expect(fileSet?.livedThrough(1500, 2500)).toEqual([first, third]);
  });
});
