import fc from 'fast-check';
import { expect, test } from 'vitest';
import { savedSql } from '../../lib/cli/query/saved.ts';
import { type Flag, flagBits, openModel } from '../../lib/model/index.ts';
import { whereUsed } from '../../lib/report/graph/where-used.ts';
import { StoreError } from '../../lib/store/error.ts';
import type { Store } from '../../lib/store/store.ts';
import { openTables, type Tables } from '../../lib/tables/duckdb/open-tables.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { type NaiveModel, type NaiveStore, naiveModel, naiveUsers } from './naive.ts';
import { publishStore } from './publish-store.ts';
import { anyStore, craftedStore } from './stores.ts';

/*
 * One truth: over the same store, every door gives the same ids. A door answers those of the questions that it can, by
 * things as `kind id`; each answer is held against the naive one. A further door is one more line of `doors`.
 */

type Answers = Readonly<Record<string, readonly string[]>>;

type Door = (store: MemoryStore, given: NaiveStore) => Promise<Answers>;

const flagNames = {
  broken_links: 'brokenLinks',
  invalid: 'invalid',
  missing_target: 'missingTarget',
  affected: 'affected',
  unused: 'unused',
  same_name: 'sameName',
  same_links: 'sameLinks',
} as const satisfies Record<Flag, keyof NaiveModel>;

const flags = Object.keys(flagNames) as readonly Flag[];
const ofCards: readonly Flag[] = ['missing_target', 'affected'];

/** What the naive computation answers to every question. */
function naiveAnswers(given: NaiveStore): Answers {
  const naive = naiveModel(given);
  // Of what only links name, no table has a row.
  const ofKind = (kind: string, things: Iterable<string>) =>
    [...things].filter((thing) => thing.startsWith(`${kind} `) && naive.held.has(thing));
  const users = (thing: string, steps: number) => [...naiveUsers(naive.uses, thing, steps).keys()];
  const used = new Set(naive.uses.map((use) => use.used));
  const wrong = ['brokenLinks', 'invalid', 'missingTarget'] as const;
  return {
    ...Object.fromEntries(
      flags.map((flag) => [`calculations ${flag}`, ofKind('calculation', naive[flagNames[flag]])]),
    ),
    ...Object.fromEntries(ofCards.map((flag) => [`cards ${flag}`, ofKind('card', naive[flagNames[flag]])])),
    'calculations that are broken': ofKind('calculation', new Set(wrong.flatMap((name) => [...naive[name]]))),
    uses: naive.uses.map(({ user, used: of, relation, validity }) =>
      [user, relation, of, validity].join(' | '),
    ),
    'uses of datasets': naive.uses
      .filter((use) => use.used.startsWith('dataset '))
      .map(({ user, used: of }) => `${user} | ${of}`),
    datasets: [...naive.datasets].map(
      ([dataset, counts]) => `${dataset} ${counts.cards} ${counts.calculations} ${counts.brokenLinks}`,
    ),
    owners: [...naive.owners].map(
      ([user, owner]) => `${user} ${owner.calculations} ${owner.cards} ${owner.files} ${owner.unused}`,
    ),
    ...Object.fromEntries([...used].map((thing) => [`who uses ${thing}`, users(thing, 1)])),
    ...Object.fromEntries([...used].map((thing) => [`what depends on ${thing}`, users(thing, Infinity)])),
  };
}

function addFault(fault: string): never {
  throw new Error(fault);
}

const byModel: Door = async (store) => {
  const { model } = await openModel({ store, now: Date.now, addFault });
  const having = (nodes: Uint32Array, flag: Flag) =>
    [...nodes]
      .filter((node) => ((model.flags[node] ?? 0) & flagBits[flag]) !== 0)
      .map((node) => Object.values(model.things.thingAt(node)).join(' '));
  return {
    ...Object.fromEntries(
      flags.map((flag) => [`calculations ${flag}`, having(model.calculations.nodes, flag)] as const),
    ),
    ...Object.fromEntries(ofCards.map((flag) => [`cards ${flag}`, having(model.cards.nodes, flag)] as const)),
  };
};

/** The rows of a query, each as its values with spaces between them. */
async function linesOf(tables: Tables, sql: string, separator = ' ') {
  const { first, faults } = await tables.run(sql, { maxRows: 10_000 });
  expect({ sql, faults }).toEqual({ sql, faults: [] });
  return first.map((row) => row.map((value) => value ?? '').join(separator));
}

const bySql: Door = async (store, given) => {
  await using tables = await openTables(store);
  const answers: Record<string, readonly string[]> = {};
  const { narrowed = [] } = given;
  // A narrowed snapshot has tables of its own, without flags.
  if (!narrowed.includes('calculations'))
    Object.assign(answers, await flagsInSql(tables, 'calculation', flags));
  if (!narrowed.includes('cards')) Object.assign(answers, await flagsInSql(tables, 'card', ofCards));
  const use = "SELECT user_kind || ' ' || user_id, relation, used_kind || ' ' || used_id, validity FROM uses";
  answers['uses'] = await linesOf(tables, use, ' | ');
  const dataset = "SELECT 'dataset', dataset_id, cards, calculations, broken_links FROM datasets";
  answers['datasets'] = await linesOf(tables, dataset);
  const owner = 'SELECT user_id, calculations, cards, files, unused FROM owners';
  answers['owners'] = await linesOf(tables, owner);
  const [thing] = naiveModel(given).uses.map(({ used }) => used);
  const [kind = '', id] = apart(thing ?? '');
  const user = `SELECT user_kind, user_id FROM where_used('${id}') WHERE used_kind = '${kind}'`;
  if (thing !== undefined) answers[`who uses ${thing}`] = await linesOf(tables, user);
  return answers;
};

/** Those of a kind with each flag, by one query. */
async function flagsInSql(tables: Tables, kind: string, names: readonly Flag[]): Promise<Answers> {
  const rows = await linesOf(tables, `SELECT DISTINCT ${kind}_id, ${names.join(', ')} FROM ${kind}s`, '\n');
  const values = rows.map((row) => row.split('\n'));
  return Object.fromEntries(
    names.map((flag, at) => [
      `${kind}s ${flag}`,
      values.filter((each) => each[at + 1] === 'true').map(([id]) => `${kind} ${id}`),
    ]),
  );
}

const apart = (thing: string) => [
  thing.slice(0, thing.indexOf(' ')),
  thing.slice(thing.indexOf(' ') + 1).replaceAll("'", "''"),
];

const bySavedQueries: Door = async (store, { narrowed = [] }) => {
  await using tables = await openTables(store);
  const saved = async (name: string, columns: string, separator?: string) =>
    linesOf(tables, `SELECT DISTINCT ${columns} FROM (${savedSql(name)})`, separator);
  return {
    ...(!narrowed.includes('calculations') && {
      'calculations unused': await saved('unused-calculations', "'calculation', calculation_id"),
      'calculations that are broken': await saved('broken-references', "'calculation', calculation_id"),
    }),
    'uses of datasets': await saved(
      'what-uses-datasets',
      "user_kind || ' ' || user_id, 'dataset ' || dataset_id",
      ' | ',
    ),
    datasets: await saved('cards-by-dataset', "'dataset', dataset_id, cards, calculations, broken_links"),
  };
};

const byWhereUsed: Door = async (store, given) => {
  const answers: Record<string, readonly string[]> = {};
  for (const thing of new Set(naiveModel(given).uses.map(({ used }) => used))) {
    const [kind = '', id = ''] = apart(thing);
    if (kind !== 'dataset' && kind !== 'calculation' && kind !== 'card') continue;
    for (const [question, hops] of [
      ['who uses', 1],
      ['what depends on', undefined],
    ] as const) {
      const { found, faults } = await whereUsed({ store, id, kind, hops, most: 1_000 });
      expect({ thing, faults }).toEqual({ thing, faults: [] });
      answers[`${question} ${thing}`] =
        found[0]?.dependents.map((dependent) => `${dependent.kind} ${dependent.id}`) ?? [];
    }
  }
  return answers;
};

const doors: Readonly<Record<string, Door>> = {
  model: byModel,
  SQL: bySql,
  'saved queries': bySavedQueries,
  'where-used': byWhereUsed,
};

const sorted = (answers: Answers): Answers =>
  Object.fromEntries(Object.entries(answers).map(([question, texts]) => [question, texts.toSorted()]));

async function expectOneTruth(given: NaiveStore): Promise<void> {
  const naive = sorted(naiveAnswers(given));
  for (const as of ['lines', 'parquet'] as const) {
    const store = await publishStore(given, as);
    for (const [door, ask] of Object.entries(doors)) {
      const answers = sorted(await ask(store, given));
      const asked = Object.keys(answers).map((question) => [question, naive[question]]);
      expect({ door, as, answers }).toEqual({ door, as, answers: Object.fromEntries(asked) });
    }
  }
}

test('every door gives the same ids, whatever shape links have', () => expectOneTruth(craftedStore), 120_000);

test(
  'and where only narrowed snapshots are published',
  () => expectOneTruth({ ...craftedStore, narrowed: ['calculations', 'cards'] }),
  120_000,
);

test('and over any store', async () => {
  await fc.assert(fc.asyncProperty(anyStore, expectOneTruth), { numRuns: 2, endOnFailure: true });
}, 120_000);

/** A store that takes nothing. */
const readOnly = (store: Store): Store => ({
  ...store,
  put: async (key) => {
    throw new StoreError(`put ${key}`, { kind: 'denied', code: 'AccessDenied' });
  },
});

test('and where nobody may write, or the model was deleted', async () => {
  const store = await publishStore(craftedStore, 'lines');
  const naive = sorted(naiveAnswers(craftedStore));
  const unused = 'calculations unused';

  const answers = async (of: Store) => sorted(await bySql(of as MemoryStore, craftedStore))[unused];

  expect(await answers(readOnly(store))).toEqual(naive[unused]);
  expect(store.objects.has('model/latest.json')).toBe(false);
  expect(await answers(store)).toEqual(naive[unused]);
  for (const key of [...store.objects.keys()]) if (/^(?:model|parquet)\//.test(key)) await store.delete(key);
  expect(await answers(store)).toEqual(naive[unused]);
  for (const key of [...store.objects.keys()]) if (key.endsWith('.parquet')) await store.delete(key);
  expect(await answers(store)).toEqual(naive[unused]);
}, 120_000);
