import { beforeEach, describe, expect, test } from 'vitest';
import { storeFormula } from '../../lib/model/formulas/formula-log.ts';
import { formulasIn } from '../../lib/model/formulas/formula-uses.ts';
import * as imported from '../../lib/model/formulas/imported-formulas.ts';
import { listFormulas } from '../../lib/model/formulas/known-formulas.ts';
import { openModel } from '../../lib/model/index.ts';
import { flagBits } from '../../lib/model/rules/index.ts';
import { storeAsOf } from '../../lib/report/as-of.ts';
import type { Place } from '../../lib/snapshot/keys.ts';
import { monday, publishLines } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';

let store: ReturnType<typeof createMemoryStore>;

beforeEach(() => {
  store = createMemoryStore();
});

const day = (date: number, hour = 0) =>
  Date.parse(`2026-11-${String(date).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`);

type Formula = Omit<imported.ImportedFormula, 'importedAt'>;
const storeImport = (
  to: typeof store,
  formulas: readonly Formula[],
  options: { readonly atMs: number; readonly job?: string },
) => imported.storeImport(to, async () => formulas, options);

type Given = { readonly name?: string | null; readonly datasetIds?: readonly string[] };
const formula = (id: string, expression: string, { name = null, datasetIds = [] }: Given = {}) => ({
  id,
  expression,
  name,
  datasetIds,
});

const textsOf = async (of: Pick<typeof store, 'get' | 'list'> = store) => {
  const known = await (await listFormulas(of)).read();
  return Object.fromEntries([...known].map(([id, { expression }]) => [id, expression]));
};

describe('the known text of a formula', () => {
  test('is the newest one, whether an import or an update by platform-sync has it', async () => {
    await storeImport(store, [formula('1', 'a'), formula('2', 'b')], { atMs: day(20) });
    await storeFormula(store, { calculationId: '1', expression: 'c', finishedAtMs: day(21), response: '{}' });
    await storeFormula(store, { calculationId: '2', expression: 'd', finishedAtMs: day(21), response: '{}' });
    await storeImport(store, [formula('02', 'e')], { atMs: day(22) });

    expect(await textsOf()).toEqual({ 1: 'c', 2: 'e' });
  });

  test('can be read as it was at a given time', async () => {
    await publishLines(store, { place: 'calculations', run: monday, lines: ['{"id":1}'] });
    await storeImport(store, [formula('1', 'a')], { atMs: day(20) });
    await storeFormula(store, { calculationId: '1', expression: 'b', finishedAtMs: day(21), response: '{}' });
    await storeImport(store, [formula('1', 'c')], { atMs: day(22) });
    const texts = async (atMs: number) => textsOf(await storeAsOf(store, atMs));

    expect([await texts(day(19)), await texts(day(20)), await texts(day(21)), await textsOf()]).toEqual([
      {},
      { 1: 'a' },
      { 1: 'b' },
      { 1: 'c' },
    ]);
  });

  test('comes from the newest import only, even if earlier imports had other formulas', async () => {
    await storeImport(store, [formula('1', 'a'), formula('2', 'b')], { atMs: day(20) });
    await storeImport(store, [formula('2', 'c')], { atMs: day(21) });
    await store.delete('formulas/imported/20261120T000000000Z.ndjson.gz');

    expect(await textsOf()).toEqual({ 1: 'a', 2: 'c' });
  });

  test('survives two concurrent imports, and two within one millisecond', async () => {
    await storeImport(store, [formula('1', 'a')], { atMs: day(20) });
    const list = store.list.bind(store);
    const before = await Array.fromAsync(list('formulas/imported/'));
    const late = {
      ...store,
      async *list() {
        yield* before;
      },
    };
    await storeImport(store, [formula('2', 'b')], { atMs: day(21) });
    await storeImport(late, [formula('3', 'c')], { atMs: day(22) });
    await storeImport(store, [formula('4', 'd')], { atMs: day(22) });

    expect(await textsOf()).toEqual({ 1: 'a', 2: 'b', 3: 'c', 4: 'd' });
  });

  test('is stored once for a job, however often its message is received', async () => {
    const first = await storeImport(store, [formula('1', 'a')], { atMs: day(20), job: 'nightly' });
    await storeImport(store, [formula('1', 'b')], { atMs: day(20), job: 'other' });

    expect(await storeImport(store, [formula('1', 'a')], { atMs: day(20), job: 'nightly' })).toBe(first);
    expect(await Array.fromAsync(store.list('formulas/imported/'))).toHaveLength(2);
  });

  test('comes from the previous import if the newest is damaged', async () => {
    await storeImport(store, [formula('1', 'a')], { atMs: day(20) });
    const key = await storeImport(store, [formula('1', 'b')], { atMs: day(21) });
    await store.put(String(key), Buffer.from('not gzip'));

    expect(await textsOf()).toEqual({ 1: 'a' });
  });
});

describe('known formulas', () => {
  const link = (type: string, id: string, valid = 'VALID') => ({
    resource: { type, id },
    visible: true,
    valid,
  });
  const publish = (place: Place, ...records: readonly object[]) =>
    publishLines(store, { place, run: monday, lines: records.map((each) => JSON.stringify(each)) });

  async function modelOf() {
    const { model } = await openModel({ store, now: Date.now });
    const { things, graph, flags } = model;
    const named = (node = 0) => `${things.thingAt(node).kind} ${things.thingAt(node).id}`;
    const nodes = Array.from({ length: things.count }, (_, node) => node);
    return {
      uses: Array.from(
        graph.user,
        (user, edge) => `${named(user)} ${graph.relationAt(edge)} ${named(graph.used[edge])}`,
      ),
      flagged: (bit: number) => nodes.filter((node) => ((flags[node] ?? 0) & bit) !== 0).map(named),
      formulas: [...formulasIn(model.formulas)],
    };
  }

  test('give the model their columns, functions and type, and the dataset that an import names', async () => {
    await storeImport(store, [formula('7', 'SUM(`Net Sales`) / 2', { datasetIds: ['D-1'], name: 'Half' })], {
      atMs: day(20),
    });

    const { uses, formulas } = await modelOf();

    expect(uses).toEqual(['calculation 7 reads column d-1:net sales']);
    expect(formulas).toEqual([
      {
        id: '7',
        expression: 'SUM(`Net Sales`) / 2',
        name: 'Half',
        atMs: day(20),
        source: 'import',
        status: 'valid',
        dataType: expect.any(String),
        functions: ['SERVICE_OP_DIVIDE', 'SUM'],
        columns: ['Net Sales'],
      },
    ]);
  });

  test('give the model only their text, without columns, if they do not parse', async () => {
    await storeImport(store, [formula('7', 'SUM(`Sales`')], { atMs: day(20) });

    const { uses, formulas } = await modelOf();

    expect(uses).toEqual([]);
    expect(formulas).toMatchObject([{ id: '7', status: 'invalid', dataType: null, columns: [] }]);
  });

  test('decide which of two calculations refers to the other, which then counts as used', async () => {
    // By the link alone, 2 would refer to 1.
    await publish(
      'calculations',
      { id: 1, links: [link('FUNCTION_TEMPLATE', '2', 'INCOMPATIBLE_LINK')] },
      { id: 2 },
    );
    await storeImport(store, [formula('1', 'SERVICE_BEAST_MODE(2) + 1')], { atMs: day(30) });

    const { uses, flagged } = await modelOf();

    expect(uses).toEqual(['calculation 1 refers to calculation 2']);
    expect(flagged(flagBits.unused)).toEqual(['calculation 1']);
    expect(flagged(flagBits.broken_links)).toEqual(['calculation 1']);
  });

  test('flag a calculation that refers to a deleted one', async () => {
    await publish('calculations', { id: 1 });
    await storeImport(store, [formula('1', 'SERVICE_BEAST_MODE(9)')], { atMs: day(30) });

    const { flagged } = await modelOf();

    expect(flagged(flagBits.missing_target)).toEqual(['calculation 1']);
  });

  test('flag equal formulas, regardless of white space, case of names and order of AND', async () => {
    await publish('calculations', { id: 1 }, { id: 2 }, { id: 3 }, { id: 4 });
    const texts = [
      "CASE WHEN `A` = 'x' AND `B` > 1 THEN sum(`c`) END",
      "case when `b` > 1\n and `a` = 'x' then SUM(`C`) end -- the same",
      "CASE WHEN `A` = 'X' AND `B` > 1 THEN SUM(`C`) END",
      "CASE WHEN `A` = 'x' OR `B` > 1 THEN SUM(`C`) END",
    ];
    await storeImport(
      store,
      texts.map((text, at) => formula(String(at + 1), text)),
      { atMs: day(30) },
    );

    const { flagged } = await modelOf();

    expect(flagged(flagBits.same_formula)).toEqual(['calculation 1', 'calculation 2']);
    expect(flagged(flagBits.same_links)).toEqual([]);
  });

  test('are forgotten once a later whole snapshot lacks the calculation', async () => {
    await publish('calculations', { id: 1 });
    await storeImport(store, [formula('2', '`a`')], { atMs: day(1) });
    expect((await modelOf()).formulas).toEqual([]);

    await storeImport(store, [formula('3', '`a`')], { atMs: day(30) });
    expect((await modelOf()).formulas).toMatchObject([{ id: '3' }]);
  });
});
