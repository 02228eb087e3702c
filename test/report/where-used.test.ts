import { beforeEach, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { storeFormula } from '../../lib/model/formulas/formula-log.ts';
import { openModel } from '../../lib/model/index.ts';
import { whereUsed } from '../../lib/report/where-used.ts';
import { latestKey, type Place } from '../../lib/snapshot/keys.ts';
import { StoreError } from '../../lib/store/error.ts';
import { checkedShape } from '../cli/checked-shape.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { monday, publishLines } from '../snapshot/changes/publish-lines.ts';
import { storeOfEach } from '../store/store-of-each.ts';

const store = storeOfEach();

const publish = (place: Place, ...records: readonly (object | string)[]) =>
  publishLines(store, {
    place,
    run: monday,
    lines: records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))),
  });

const link = (type: string, id: string, valid = 'VALID') => ({
  resource: { type, id },
  visible: true,
  valid,
});

const calculation = (id: number | string, name: string, ...links: readonly object[]) => ({
  id,
  name,
  owner: 5,
  status: 'VALID',
  links,
});

const card = (id: number, title: string, datasourceId: string) => ({
  id,
  title,
  type: 'kpi',
  ownerId: 6,
  datasourceId,
});

/** Publishes a chain: dataset d-1 has calculation 1, 2 refers to 1, card 31 uses 2, and a drill opens from card 31. */
async function publishChain() {
  await publish(
    'calculations',
    calculation(1, 'Revenue', link('DATA_SOURCE', 'd-1'), link('FUNCTION_TEMPLATE', '2')),
    calculation(2, 'Margin', link('CARD', '31:1')),
    calculation(3, 'Drilled', link('CARD', 'dr:32:31'), link('DATA_SOURCE', 'gone', 'ILLEGAL_REFERENCE')),
  );
  await publish('cards', card(30, 'Sales', 'd-1'), card(31, 'Margins', 'd-2'));
}

type Found = Awaited<ReturnType<typeof whereUsed>>['found'];

const find = (id: string, more: Partial<Parameters<typeof whereUsed>[0]> = {}) =>
  whereUsed({ store, id, maxListed: 1_000, ...more });

const lineOf = ({ hop, kind, id, name, ways }: Found[number]['dependents'][number]) =>
  `${hop} ${kind} ${id} ${name}: ${ways.map((way) => `${way.relation} ${way.kind} ${way.id}${way.valid === null ? '' : ` ${way.valid}`}`).join(', ')}`;

const linesOf = (found: Found) => found.map(({ dependents }) => dependents.map(lineOf));

describe('the list of what depends on a record', () => {
  beforeEach(publishChain);

  test('ends after the given number of hops, and has the total count if it is shortened', async () => {
    const [near, first] = [await find('d-1', { hops: 1 }), await find('d-1', { maxListed: 1 })];

    expect(near.found[0]).toMatchObject({ total: 2, hops: [2], isCut: true });
    expect(linesOf(first.found)).toEqual([['1 calculation 1 Revenue: saved on dataset d-1']]);
    expect(first.found[0]).toMatchObject({ total: 5, hops: [2, 1, 1, 1] });
  });

  test('exists for a calculation and for a card, with what the snapshot says about the record', async () => {
    const [ofCalculation, ofCard] = [await find('2'), await find('31')];

    expect(ofCalculation.found).toMatchObject([
      {
        kind: 'calculation',
        name: 'Margin',
        type: 'valid',
        owner: '5',
        inSnapshot: true,
        total: 2,
        links: 1,
      },
    ]);
    expect(ofCard.found).toMatchObject([
      { kind: 'card', name: 'Margins', type: 'kpi', owner: '6', inSnapshot: true, total: 1, links: 2 },
    ]);
  });

  test('suggests records by name in any case, or by the start of an id, if no record has the id', async () => {
    expect((await find('margin')).hints).toEqual([{ kind: 'calculation', id: '2', name: 'Margin' }]);
    expect((await find('nobody')).hints).toEqual([]);
  });
});

test('an id that records of several kinds have is found in each kind, unless one kind is requested', async () => {
  await publish('calculations', calculation(7, 'Seven', link('DATA_SOURCE', '7')));
  await publish('cards', card(7, 'Card seven', '7'));

  expect((await find('7')).found.map(({ kind }) => kind)).toEqual(['dataset', 'calculation', 'card']);
  expect((await find('7', { kind: 'card' })).found.map(({ kind }) => kind)).toEqual(['card']);
});

test('if a part is damaged, it is named and no uses are shown', async () => {
  await publishChain();
  const [key = ''] = [...store.objects.keys()].filter((each) => /^cards\/.*part/.test(each));
  await store.put(key, Buffer.from('not compressed'));

  await expect(find('d-1')).rejects.toThrow(/^cards\/.*part-00000/);
});

describe('where-used of files', () => {
  const file = (id: string, path: string, fileType = 'TEXT') => ({
    _filesetId: 'F-1',
    id,
    path,
    fileType,
    createdBy: 9,
  });

  beforeEach(() =>
    publish(
      'files',
      file('i-2', '/reports/a.txt'),
      file('i-1', '/reports', 'DIRECTORY'),
      file('i-3', '/reports/2026/b.txt'),
      file('i-4', '/reports-old/c.txt'),
    ),
  );

  test('of a FileSet lists what would be deleted with it', async () => {
    const { found } = await find('f-1', { maxListed: 2 });

    expect(found).toMatchObject([{ kind: 'fileset', id: 'F-1', total: 4, hops: [4], kinds: { file: 4 } }]);
    expect(linesOf(found)[0]).toEqual([
      '1 file i-2 /reports/a.txt: lies in fileset F-1',
      '1 file i-1 /reports: lies in fileset F-1',
    ]);
  });

  test('of a directory lists the files below it, whether the directory has a record or not', async () => {
    expect((await find('/reports/')).found).toMatchObject([
      {
        kind: 'file',
        id: 'i-1',
        name: '/reports',
        type: 'directory',
        fileset: 'F-1',
        inSnapshot: true,
        total: 2,
      },
    ]);
    expect((await find('/reports/2026')).found).toMatchObject([
      { kind: 'file', inSnapshot: false, total: 1 },
    ]);
  });

  test('finds a file by path and by id, and nothing depends on it', async () => {
    for (const id of ['/reports/a.txt', 'i-2'])
      expect((await find(id)).found).toMatchObject([
        { kind: 'file', id: 'i-2', name: '/reports/a.txt', owner: '9', fileset: 'F-1', total: 0 },
      ]);
  });

  test('finds data files by id', async () => {
    await publish('data-files', { dataFileId: 40009, name: 'a.csv', currentRevision: { scanState: 'SAFE' } });

    expect((await find('40009')).found).toMatchObject([
      { kind: 'data-file', name: 'a.csv', type: 'safe', total: 0 },
    ]);
  });
});

describe('the where-used command', () => {
  async function run(...argv: readonly string[]) {
    const { terminal, out, err } = createFakeTerminal({ SYNC_STORE: 'memory' });
    const code = await runCommandLine(['where-used', ...argv], { ...terminal, openStore: async () => store });
    return checkedShape(['where-used', ...argv], { code, out: out(), err: err() });
  }

  test('prints the records that depend on a record, hop by hop', async () => {
    await publishChain();

    const { code, out } = await run('d-1', '--limit', '4');

    expect(out.replaceAll(/, [\d.]+ (?:days|h|min|s) old/g, ', N days old')).toBe(
      [
        'dataset d-1',
        '  not in a snapshot, but 2 records refer to it',
        '  2 calculations and 3 cards would break without it',
        '  directly: 2',
        '    calculation 1 “Revenue”  saved on dataset d-1',
        '    card 30 “Sales”  built on dataset d-1',
        '  2 hops away: 1',
        '    calculation 2 “Margin”  refers to calculation 1 “Revenue”',
        '  3 hops away: 1',
        '    card 31 “Margins”  uses calculation 2 “Margin”',
        '  and 1 more (--limit)',
        'columns: the platform returns no formulas in a search; known here, from imports and updates by platform-sync: 0 of 3',
        `searched: calculations (run ${monday.id}, N days old, 3 records); cards (run ${monday.id}, N days old, 2 records); not published: files, data-files`,
      ].join('\n'),
    );
    expect(code).toBe(0);
  });

  test('says that a record is deleted, and which links are broken', async () => {
    await publishChain();

    const { out } = await run('gone');

    expect(out).toContain('  not in any snapshot, but 1 record refers to it, all by a broken link');
    expect(out).toContain('calculation 3 “Drilled”  saved on dataset gone (broken: illegal_reference)');
  });

  test('prints one JSON value', async () => {
    await publishChain();

    const { code, out } = await run('d-1', '--json');

    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      id: 'd-1',
      found: [{ total: 5 }],
      unpublished: ['files', 'data-files'],
    });
  });

  test('shows names as text, whatever they contain', async () => {
    const name = '<script>\u001b[2Jalert(1)\u202e</script>\nline';
    await publish('calculations', calculation(1, name, link('DATA_SOURCE', 'd-1')));

    const { out } = await run('d-1');

    expect(out).toContain('calculation 1 “<script>alert(1) </script> line”  saved on');
    expect(out).not.toContain('\u001b');
    expect(out).not.toContain('\u202e');
  });

  test('refuses an unknown id, and says where it looked for it', async () => {
    await publishChain();

    const { code, out, err } = await run('revenue');

    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain(`revenue: nothing has this id in calculations (run ${monday.id}, `);
    expect(err).toContain('perhaps calculation 1 “Revenue” was meant');
  });

  test('fails if nothing is published', async () => {
    const { code, err } = await run('d-1');

    expect(code).toBe(1);
    expect(err).toBe('platform-sync: d-1: nothing has been published that could refer to it (memory)');
  });

  test('fails if a stored object is damaged, and names that object', async () => {
    await publishChain();
    await store.put(latestKey('cards'), Buffer.from('{}'));

    const { code, err } = await run('d-1');

    expect(code).toBe(1);
    expect(err).toContain('cards/latest.json');
  });
});

describe('columns in where-used', () => {
  const at = (day: number) => Date.parse(`2026-11-${day}T09:00:00Z`);
  const update = (calculationId: string, expression: string, day = 20) =>
    storeFormula(store, { calculationId, finishedAtMs: at(day), expression, response: undefined });

  async function run(...argv: readonly string[]) {
    const { terminal, out, err } = createFakeTerminal({ SYNC_STORE: 'memory' });
    const code = await runCommandLine(['where-used', ...argv], { ...terminal, openStore: async () => store });
    return checkedShape(['where-used', ...argv], { code, out: out(), err: err() });
  }

  beforeEach(async () => {
    await publishChain();
    await update('1', 'SUM(`old`)', 19);
    await update('01', 'SUM(`Sales`) / COUNT(`Order Id`)');
    await update('3', 'SUM(`sales`)');
  });

  test('list what reads them according to the newest formulas, and everything that depends on those readers', async () => {
    const { found, formulas } = await find('`SALES`');

    expect(formulas).toEqual({ known: 2, of: 3 });
    expect(found.map(({ kind, id, links }) => ({ kind, id, links }))).toEqual([
      { kind: 'column', id: 'd-1:sales', links: 1 },
      { kind: 'column', id: 'gone:sales', links: 1 },
    ]);
    expect(linesOf(found)[0]).toEqual([
      '1 calculation 1 Revenue: reads column d-1:sales',
      '2 calculation 2 Margin: refers to calculation 1',
      '3 card 31 Margins: uses calculation 2',
      '4 card 32 null: drills from card 31',
    ]);
    expect((await find('old')).found).toEqual([]);
  });

  test('can be restricted to one dataset', async () => {
    const { found } = await find('sales', { dataset: 'D-1' });

    expect(found.map(({ id }) => id)).toEqual(['d-1:sales']);
    expect((await find('d-1', { dataset: 'd-1' })).found).toEqual([]);
    expect(await run('sales', '--dataset', 'd-9')).toMatchObject({
      code: 2,
      err: expect.stringContaining('sales: no column of dataset d-9 has this name in '),
    });
  });

  test('come with a count of known formulas that has only calculations of the snapshot', async () => {
    await update('999', 'SUM(`Sales`)', 30);

    const { found, formulas } = await find('sales');

    expect(found.map(({ id }) => id)).toContain(':sales');
    expect(formulas).toEqual({ known: 2, of: 3 });
  });

  test('are listed with the dataset that has them, and with the calculation that reads them', async () => {
    const [dataset, own] = [await find('d-1'), await find('1')];

    expect(dataset.found[0]).toMatchObject({ columns: ['order id', 'sales'] });
    expect(own.found[0]).toMatchObject({
      kind: 'calculation',
      columns: ['order id', 'sales'],
      formula: 'SUM(`Sales`) / COUNT(`Order Id`)',
    });
    expect((await run('1')).out).toContain(
      '\n  formula: SUM(`Sales`) / COUNT(`Order Id`)\n  columns: order id, sales\n',
    );
    expect(dataset.found[0]?.formula).toBeNull();
    expect((await find('2')).found[0]).toMatchObject({ columns: [] });
  });

  test('show an updated formula without another snapshot, and leave the flags of all records unchanged', async () => {
    const before = (await openModel({ store, now: Date.now })).model;
    await update('2', '`Region`');
    const { model } = await openModel({ store, now: Date.now });

    expect((await find('region')).found).toMatchObject([{ id: ':region', total: 3 }]);
    expect(model.formulas.nodes).toHaveLength(3);
    expect(model.flags.slice(0, before.flags.length)).toEqual(before.flags);
    expect(model.flags.slice(before.flags.length)).toEqual(new Uint16Array(1));
  });

  test('are printed with the number of known formulas, even if no column has the name', async () => {
    const known =
      'columns: the platform returns no formulas in a search; known here, from imports and updates by platform-sync: 2 of 3';
    const [column, dataset, none] = [
      await run('sales', '--dataset', 'd-1'),
      await run('d-1'),
      await run('profit', '--kind', 'column'),
    ];

    expect(column.out).toContain('column d-1:sales\n  1 known formula uses it\n  2 calculations and 2 cards');
    expect(column.out).toContain(`\n${known}\n`);
    expect(dataset.out).toContain(`\n  columns: order id, sales\n`);
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('profit: no column has this name') });
    expect(none.err).toContain(known);
    expect((await run('sales', '--json')).code).toBe(0);
  });

  test('are unknown to a reader who may not list formulas but gets everything else', async () => {
    const denied = new StoreError('list formulas/', { kind: 'denied', code: '403' });
    async function* list(...asked: Parameters<typeof store.list>) {
      if (asked[0].startsWith('formulas')) throw denied;
      yield* store.list(...asked);
    }
    const reader = { ...store, list, put: () => Promise.reject(denied) };

    const { found, formulas } = await whereUsed({ store: reader, id: 'd-1', maxListed: 9 });

    expect(found).toMatchObject([{ kind: 'dataset', total: 5 }]);
    expect(formulas).toEqual({ known: 0, of: 3 });
    expect((await find('sales')).formulas).toEqual({ known: 2, of: 3 });
  });

  test('are omitted if the formula that reads them is damaged', async () => {
    await store.put('formulas/2/20261121T090000000Z.json', Buffer.from('{"expression": "`x'));

    expect((await find('x')).formulas).toEqual({ known: 2, of: 3 });
  });
});
