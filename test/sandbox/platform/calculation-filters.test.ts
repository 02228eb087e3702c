import { describe, expect, test } from 'vitest';
import { type PlatformApp, search, smallPlatform } from './call-platform.ts';

type Row = {
  readonly id: number | bigint;
  readonly name: string;
  readonly owner: number;
  readonly created: number;
  readonly lastModified: number;
  readonly archived: boolean;
  readonly global: boolean;
  readonly locked: boolean;
  readonly legacyId: string;
  readonly status: string;
  readonly links: readonly { readonly resource: { readonly type: string; readonly id: string } }[];
  readonly activeLinks: Readonly<Record<string, readonly string[]>>;
};

const platform = smallPlatform({ calculations: 1000 });
const { calculations, formulas } = platform.state;
const middle = calculations.at(500);
const linked = calculations.at(
  calculations
    .byId()
    .find((sequence) => calculations.at(sequence).links.some(({ resource }) => resource.type === 'CARD')) ??
    0,
);
const card = linked.links.find(({ resource }) => resource.type === 'CARD')?.resource.id ?? '';
const dataset = platform.ids().datasets[3] ?? '';

const expressionOf = (row: Row) => formulas.expressionOf(calculations.get(String(row.id)) ?? middle);
const has = (type: string, id?: string) => (row: Row) =>
  row.links.some(({ resource }) => resource.type === type && (id === undefined || resource.id === id));

const cases: readonly [string, object, (row: Row) => boolean][] = [
  ['active', { field: 'active' }, (row) => Object.keys(row.activeLinks).length > 0],
  ['inactive', { field: 'inactive' }, (row) => Object.keys(row.activeLinks).length === 0],
  ['archived', { field: 'archived' }, ({ archived }) => archived],
  ['archived false', { field: 'archived', value: 'false' }, ({ archived }) => !archived],
  ['card', { field: 'card' }, has('CARD')],
  ['card by its link id', { field: 'card', value: card }, has('CARD', card)],
  ['column', { field: 'column', value: 'Region' }, (row) => expressionOf(row).includes('`Region`')],
  [
    'created',
    { field: 'created', value: String(middle.created) },
    ({ created }) => created >= middle.created,
  ],
  [
    'created as ISO text',
    { field: 'created', value: '2023-01-01T00:00:00Z' },
    ({ created }) => created >= Date.UTC(2023, 0, 1),
  ],
  ['dataset', { field: 'dataset', value: dataset }, has('DATA_SOURCE', dataset)],
  ['dataset by a list', { field: 'dataset', idList: [dataset] }, has('DATA_SOURCE', dataset)],
  [
    'datatype',
    { field: 'datatype', value: 'date' },
    (row) => JSON.parse(formulas.recordOf(calculations.get(String(row.id)) ?? middle)).dataType === 'DATE',
  ],
  ['function', { field: 'function', value: 'datediff' }, (row) => /\bdatediff\(/i.test(expressionOf(row))],
  ['global', { field: 'global' }, ({ global }) => global],
  ['legacyid', { field: 'legacyid', value: middle.legacyId }, ({ legacyId }) => legacyId === middle.legacyId],
  ['link', { field: 'link' }, ({ links }) => links.length > 0],
  ['link by id', { field: 'link', value: dataset }, has('DATA_SOURCE', dataset)],
  ['locked', { field: 'locked' }, ({ locked }) => locked],
  [
    'modified',
    { field: 'modified', value: String(middle.lastModified) },
    ({ lastModified }) => lastModified >= middle.lastModified,
  ],
  ['name', { field: 'name', value: 'margin' }, ({ name }) => name.toLowerCase().includes('margin')],
  ['nested', { field: 'nested' }, ({ id }) => calculations.get(String(id))?.references.length !== 0],
  ['owner', { field: 'owner', idList: [middle.owner] }, ({ owner }) => owner === middle.owner],
  ['status', { field: 'status', value: 'invalid' }, ({ status }) => status === 'INVALID'],
  ['variable', { field: 'variable' }, (row) => calculations.get(String(row.id))?.variable === true],
];

const found = async (from: PlatformApp, filters: readonly object[]) =>
  (await search(from, { filters })).results as unknown as Row[];

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => String(id));

describe('filters of calculations:', async () => {
  const all = await found(platform, []);

  test.each(cases)('the filter %s selects the matching calculations', async (_, filter, wanted) => {
    const rows = await found(platform, [filter]);

    expect(idsOf(rows)).toEqual(idsOf(all.filter(wanted)));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThan(all.length);
  });

  test.each(cases)('the filter %s with `not` selects all other calculations', async (_, filter, wanted) => {
    const { field } = filter as { field: string };

    const joined = await found(platform, [
      { ...filter, field: `not${field.charAt(0).toUpperCase()}${field.slice(1)}` },
    ]);
    const apart = await found(platform, [{ ...filter, field: `NOT ${field}` }]);

    expect(idsOf(joined)).toEqual(idsOf(all.filter((row) => !wanted(row))));
    expect(idsOf(apart)).toEqual(idsOf(joined));
  });

  test('a calculation is selected if all filters and the name match', async () => {
    const { results } = await search(platform, {
      filters: [{ field: 'card' }, { field: 'notLocked' }],
      name: 'total',
      limit: 10,
    });

    expect(results.length).toBeGreaterThan(0);
    expect(results).toEqual(
      all
        .filter((row) => has('CARD')(row) && !row.locked && row.name.toLowerCase().includes('total'))
        .slice(0, 10),
    );
  });

  test('a filtered search sees changes made since the previous page', async () => {
    const changing = smallPlatform();
    const [first] = await found(changing, [{ field: 'notArchived' }]);

    changing.state.calculations.change(String(first?.id), { archived: true });

    const after = await found(changing, [{ field: 'notArchived' }]);
    expect(after.map(({ id }) => id)).not.toContain(first?.id);
  });
});
