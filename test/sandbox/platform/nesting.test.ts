import { describe, expect, test } from 'vitest';
import { call, type PlatformApp, search, smallPlatform } from './call-platform.ts';

/** The ids of the calculations that each formula's text names, by the id of the formula's calculation. */
function usesByText({
  state: { calculations, formulas },
}: PlatformApp): ReadonlyMap<string, readonly string[]> {
  const all = calculations.byId().map((sequence) => calculations.at(sequence));
  return new Map(
    all.map((each) => [
      each.id,
      [...formulas.expressionOf(each).matchAll(/SERVICE_(?:BEAST_MODE|VARIABLE)\((\d+)\)/g)].map(
        ([, id = '']) => id,
      ),
    ]),
  );
}

/** The ids of the existing calculations whose formulas name each calculation, as its row must list them. */
function usersByText(platform: PlatformApp): ReadonlyMap<string, readonly string[]> {
  const uses = usesByText(platform);
  const users = new Map([...uses.keys()].map((id) => [id, new Set<string>()]));
  for (const [user, used] of uses) for (const id of used) users.get(id)?.add(user);
  return new Map([...users].map(([id, each]) => [id, [...each]]));
}

type Row = {
  readonly links: readonly {
    readonly resource: { readonly type: string; readonly id: string };
    readonly valid: string;
  }[];
  readonly activeLinks: Readonly<Record<string, readonly string[]>>;
};

async function usersByRow(platform: PlatformApp): Promise<ReadonlyMap<string, readonly string[]>> {
  const { results } = await search(platform);
  return new Map(
    results.map((row) => {
      const { links } = row as unknown as Row;
      const nested = links.filter(({ resource }) => resource.type === 'FUNCTION_TEMPLATE');
      return [String(row.id), nested.map(({ resource }) => resource.id)];
    }),
  );
}

const set = (platform: PlatformApp, id: string, expression: string) =>
  call(platform, { path: `/api/query/v1/functions/template/${id}`, body: { expression } });

const idAt = ({ state }: PlatformApp, sequence: number) => state.calculations.at(sequence).id;

describe('nested calculations:', () => {
  test('the row of a calculation names those whose formulas refer to it, and none to which its own formula refers', async () => {
    const platform = smallPlatform({ calculations: 3000 });

    const users = usersByText(platform);

    expect([...users.values()].flat().length).toBeGreaterThan(50);
    expect(await usersByRow(platform)).toEqual(users);
  });

  test('seeded references nest at least three deep, and never form a circle', () => {
    const uses = usesByText(smallPlatform({ calculations: 3000 }));
    const depthOf = (id: string): number =>
      Math.max(0, ...(uses.get(id) ?? []).map((each) => 1 + depthOf(each)));

    const depths = [...uses.keys()].map(depthOf);

    expect(Math.max(...depths)).toBeGreaterThanOrEqual(3);
  });

  test('an update changes the rows of the calculations that the formula named before, and of those that it names now', async () => {
    const platform = smallPlatform();
    const [first, second, third] = [idAt(platform, 3), idAt(platform, 4), idAt(platform, 5)];
    const rows = async () => {
      const users = await usersByRow(platform);
      return [first, second, third].map((id) => users.get(id)?.includes(idAt(platform, 9)));
    };

    await set(platform, idAt(platform, 9), `SERVICE_BEAST_MODE(${first}) + SERVICE_BEAST_MODE(${second})`);
    const before = await rows();
    await set(platform, idAt(platform, 9), `SERVICE_BEAST_MODE(${second}) + SERVICE_VARIABLE(${third})`);
    const after = await rows();
    await set(platform, idAt(platform, 9), '1');

    expect(before).toEqual([true, true, false]);
    expect(after).toEqual([false, true, true]);
    expect(await rows()).toEqual([false, false, false]);
  });

  test('a formula that refers back to its own calculation is INVALID, and so is the link to that calculation', async () => {
    const platform = smallPlatform();
    const [one, two, three] = [idAt(platform, 3), idAt(platform, 4), idAt(platform, 5)];

    const nested = await set(platform, two, `SERVICE_BEAST_MODE(${one})`);
    const deeper = await set(platform, three, `SERVICE_BEAST_MODE(${two})`);
    const circle = await set(platform, one, `SERVICE_BEAST_MODE(${three})`);
    const itself = await set(platform, three, `SERVICE_BEAST_MODE(${three})`);

    expect([nested, deeper].map(({ json }) => (json as { status: string }).status)).toEqual([
      'VALID',
      'VALID',
    ]);
    for (const { json } of [circle, itself]) expect(json).toMatchObject({ status: 'INVALID' });
    expect(circle.text).toContain('INCOMPATIBLE_LINK');
  });

  test('rows stay correct while calculations are added, deleted and changed', async () => {
    const platform = smallPlatform({ calculations: 1500 });
    await search(platform);

    platform.churn(2500);

    const [users, rows] = [usersByText(platform), await usersByRow(platform)];
    expect(platform.counts().churn).toMatchObject({
      'calculation added': expect.any(Number),
      'calculation deleted': expect.any(Number),
    });
    expect(rows).toEqual(users);
  });

  test('a deleted dataset is linked as ILLEGAL_REFERENCE, and its cards get 404 or 410', async () => {
    const platform = smallPlatform({ calculations: 3000 });
    const rows = (await search(platform)).results as unknown as readonly Row[];
    const gone = rows.flatMap(({ links }) =>
      links.flatMap(({ resource, valid }) =>
        resource.type === 'DATA_SOURCE' && valid === 'ILLEGAL_REFERENCE' ? [resource.id] : [],
      ),
    );

    const statuses = await Promise.all(
      gone.map(
        async (id) => (await call(platform, { path: `/api/content/v1/datasources/${id}/cards` })).status,
      ),
    );

    expect(new Set(gone).size).toBeGreaterThan(30);
    expect(new Set(statuses)).toEqual(new Set([404, 410]));
  });
});
