import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastRuns, openModel } from '../../lib/model/index.ts';
import { adjacencyOf, brokenFlags, type Flag, flagBits, reach } from '../../lib/model/rules/index.ts';
import { collectFacts } from '../../lib/report/collect/collect-facts.ts';
import { brokenThings } from '../../lib/report/digest/digest.ts';
import { calculationFlags, cardFlags, ownedCounts } from '../../lib/report/facts.ts';
import { figuresOf } from '../../lib/report/print-report.ts';
import { whereUsed } from '../../lib/report/where-used.ts';
import { StoreError } from '../../lib/store/error.ts';
import type { Store } from '../../lib/store/store.ts';
import { openTables } from '../../lib/tables/duckdb/open-tables.ts';
import { savedSql } from '../../lib/tables/duckdb/query-text.ts';
import { connect, contextOver } from '../report/mcp/connect.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { flagNames, type NaiveStore, naiveModel, naiveUsers } from './naive.ts';
import { publishStore } from './publish-store.ts';
import { anyStore, craftedStore, publishable } from './stores.ts';

/*
 * Every reader of the model must return the same ids over the same store. A reader answers the questions that it can,
 * with things as `kind id`, and each answer is compared with that of the naive computation. To test another reader, add
 * a line to `readers`.
 */

type Answers = Readonly<Record<string, readonly string[]>>;

type Reader = (store: MemoryStore, given: NaiveStore) => Promise<Answers>;

const flags = Object.keys(flagNames) as readonly Flag[];
const ofCards: readonly Flag[] = ['missing_target', 'affected'];

function naiveAnswers(given: NaiveStore): Answers {
  const naive = naiveModel(given);
  // A record that is known only from links has no row in a table.
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
    ...Object.fromEntries(
      brokenFlags.flatMap((flag) => {
        const things = [...naive[flagNames[flag]]].filter((thing) => naive.held.has(thing));
        return [
          [`things ${flag}`, things],
          [`how many things ${flag}`, [String(things.length)]],
        ];
      }),
    ),
    uses: naive.uses.map(({ user, used: of, relation, validity }) =>
      [user, relation, of, validity].join(' | '),
    ),
    'uses of datasets': naive.uses
      .filter((use) => use.used.startsWith('dataset '))
      .map(({ user, used: of }) => `${user} | ${of}`),
    datasets: [...naive.datasets].map(
      ([dataset, counts]) => `${dataset} ${counts.cards} ${counts.calculations} ${counts.brokenLinks}`,
    ),
    owners: [...naive.owners].map(([user, { dataFiles, brokenLinks, missingTarget, ...owner }]) =>
      ownerLine(user, {
        ...owner,
        ...{ data_files: dataFiles, broken_links: brokenLinks, missing_target: missingTarget },
      }),
    ),
    ...Object.fromEntries([...used].map((thing) => [`who uses ${thing}`, users(thing, 1)])),
    ...Object.fromEntries([...used].map((thing) => [`what depends on ${thing}`, users(thing, Infinity)])),
  };
}

function addFault(fault: string): never {
  throw new Error(fault);
}

const byModel: Reader = async (store) => {
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

/** A question, and the SQL that answers it with one line a row. */
type Query = readonly [question: string, line: string, from: string];

/** Runs all queries as one, since each query opens a database. */
async function bySelects(store: MemoryStore, queries: readonly Query[]): Promise<Answers> {
  await using tables = await openTables(store);
  const selects = queries.map(([, line, from], at) => `SELECT DISTINCT ${at}, ${line} FROM ${from}`);
  const { first, faults } = await tables.run(selects.join('\nUNION ALL '), { maxRows: 10_000 });
  expect(faults).toEqual([]);
  return Object.fromEntries(
    queries.map(([question], at) => [
      question,
      first.filter(([of]) => of === at).map(([, line]) => `${line}`),
    ]),
  );
}

const bySql: Reader = async (store, given) => {
  const { narrowed = [] } = given;
  const ofKind = (kind: string, names: readonly Flag[], from = `${kind}s`, suffix = '') =>
    names.map(
      (flag): Query => [`${kind}s ${flag}${suffix}`, `'${kind} ' || ${kind}_id`, `${from} WHERE ${flag}`],
    );
  // If only narrowed places of a source are published, its table has the records of all of them, and each place has its
  // own table too.
  const ofPlaces = (kind: 'calculation' | 'card', names: readonly Flag[]) =>
    given[`${kind}s`] === undefined || !narrowed.includes(`${kind}s`)
      ? []
      : ofKind(kind, names, `(SELECT * FROM ${kind}s_part UNION ALL SELECT * FROM ${kind}s_rest)`, PLACES);
  const [thing] = naiveModel(given).uses.map(({ used }) => used);
  const [kind = '', id] = apart(thing ?? '');
  const use =
    "concat_ws(' | ', user_kind || ' ' || user_id, relation, used_kind || ' ' || used_id, coalesce(validity, ''))";
  const answers = await bySelects(store, [
    ...ofKind('calculation', flags),
    ...ofKind('card', ofCards),
    ...ofPlaces('calculation', flags),
    ...ofPlaces('card', ofCards),
    ['uses', use, 'uses'],
    ['datasets', "concat_ws(' ', 'dataset', dataset_id, cards, calculations, broken_links)", 'datasets'],
    ['owners', `concat_ws(' ', user_id, ${ownedCounts.join(', ')})`, 'owners'],
    ...(thing === undefined
      ? []
      : [
          [
            `who uses ${thing}`,
            "user_kind || ' ' || user_id",
            `where_used('${id}') WHERE used_kind = '${kind}'`,
          ] as const,
        ]),
  ]);
  for (const [question, lines] of Object.entries(answers))
    if (question.endsWith(PLACES))
      expect(lines.toSorted()).toEqual(answers[question.slice(0, -PLACES.length)]?.toSorted());
  return Object.fromEntries(Object.entries(answers).filter(([question]) => !question.endsWith(PLACES)));
};

const PLACES = ' of its places';

const apart = (thing: string) => [
  thing.slice(0, thing.indexOf(' ')),
  thing.slice(thing.indexOf(' ') + 1).replaceAll("'", "''"),
];

const bySavedQueries: Reader = (store) => {
  const saved = (question: string, line: string, name: string): Query => [
    question,
    line,
    `(${savedSql(name)})`,
  ];
  return bySelects(store, [
    saved('calculations unused', "'calculation ' || calculation_id", 'unused-calculations'),
    ...(['missing_target', 'affected'] as const).flatMap((flag) =>
      (['calculation', 'card'] as const).map(
        (kind): Query => [
          `${kind}s ${flag}`,
          "kind || ' ' || id",
          `(${savedSql('cleanup-by-owner')}) WHERE kind = '${kind}' AND ${flag}`,
        ],
      ),
    ),
    saved('calculations that are broken', "'calculation ' || calculation_id", 'broken-references'),
    saved(
      'uses of datasets',
      "user_kind || ' ' || user_id || ' | dataset ' || dataset_id",
      'what-uses-datasets',
    ),
    saved(
      'datasets',
      "concat_ws(' ', 'dataset', dataset_id, cards, calculations, broken_links)",
      'cards-by-dataset',
    ),
  ]);
};

const byWhereUsed: Reader = async (store, given) => {
  const answers: Record<string, readonly string[]> = {};
  for (const thing of new Set(naiveModel(given).uses.map(({ used }) => used))) {
    const [kind = '', id = ''] = apart(thing);
    if (kind !== 'dataset' && kind !== 'calculation' && kind !== 'card') continue;
    for (const [question, hops] of [
      ['who uses', 1],
      ['what depends on', undefined],
    ] as const) {
      const { found } = await whereUsed({ store, id, kind, hops, maxListed: 1_000 });
      answers[`${question} ${thing}`] =
        found[0]?.dependents.map((dependent) => `${dependent.kind} ${dependent.id}`) ?? [];
    }
  }
  return answers;
};

type Counted = Readonly<Record<string, unknown>>;

const datasetLine = (id: unknown, { cards, calculations, broken_links }: Counted) =>
  `dataset ${id} ${cards} ${calculations} ${broken_links}`;

const ownerLine = (id: unknown, counts: Counted) =>
  [id, ...ownedCounts.map((name) => counts[name])].join(' ');

const byReport: Reader = async (store) => {
  const facts = await collectFacts({ store, now: Date.now, signal: new AbortController().signal });
  expect(facts.faults).toEqual([]);
  const figures = figuresOf(facts);
  const answers: Record<string, readonly string[]> = {
    datasets: figures.datasets.map((row) => datasetLine(row.dataset_id, row)),
    owners: figures.owners.map((row) => ownerLine(row.user_id, row)),
  };
  for (const flag of figures.calculations === null ? [] : flags)
    answers[`calculations ${flag}`] = figures.calculations?.[flag].ids.map((id) => `calculation ${id}`) ?? [];
  for (const flag of figures.cards === null ? [] : (['missing_target', 'affected'] as const))
    answers[`cards ${flag}`] = figures.cards?.[flag].ids.map((id) => `card ${id}`) ?? [];
  return answers;
};

/** Answers from the lists of the page, by their filters, and from its graph of uses. */
const byLists: Reader = async (store) => {
  const { calculations, cards, datasets, graph } = await collectFacts({
    store,
    now: Date.now,
    signal: new AbortController().signal,
  });
  const having = (kind: string, of: typeof calculations | typeof cards, bit: number) =>
    (of?.list.columns.id ?? [])
      .filter((_, row) => ((of?.list.columns.flags[row] ?? 0) & bit) !== 0)
      .map((id) => `${kind} ${id}`);
  const nodes = [
    ...(datasets?.list.columns.id ?? []).map((id) => `dataset ${id}`),
    ...(calculations?.list.columns.id ?? []).map((id) => `calculation ${id}`),
    ...(cards?.list.columns.id ?? []).map((id) => `card ${id}`),
    ...graph.others.map(({ kind, id }) => `${kind} ${id}`),
  ];
  const users = adjacencyOf({ nodes: nodes.length, from: graph.used, to: graph.user });
  const usersOf = (node: number, hops: number) =>
    Array.from(reach(users, [node], { hops }).nodes, (each) => nodes[each] ?? '');
  const used = [...new Set(graph.used)];
  return {
    ...(calculations &&
      Object.fromEntries(
        flags.map((flag) => [
          `calculations ${flag}`,
          having('calculation', calculations, calculationFlags[flag]),
        ]),
      )),
    ...(cards &&
      Object.fromEntries(
        (['missing_target', 'affected'] as const).map((flag) => [
          `cards ${flag}`,
          having('card', cards, cardFlags[flag]),
        ]),
      )),
    ...Object.fromEntries(used.map((node) => [`who uses ${nodes[node]}`, usersOf(node, 1)])),
    ...Object.fromEntries(used.map((node) => [`what depends on ${nodes[node]}`, usersOf(node, Infinity)])),
  };
};

/** Answers from a digest against an empty run, so that everything broken is new. It names the first findings. */
const byDigest: Reader = async (store) => {
  const { runs } = await lastRuns(store, ['calculations'], addFault);
  const answers: Record<string, readonly string[]> = {};
  for (const run of runs) {
    const before = { ...run, manifest: { ...run.manifest, records: 0, parts: [] } };
    const [broken, sinceNothing] = [
      await brokenThings({ store, run, before: undefined }),
      await brokenThings({ store, run, before }),
    ];
    for (const flag of brokenFlags) {
      const { calculations = 0, cards = 0 } = broken?.[flag] ?? {};
      answers[`how many things ${flag}`] = [String(calculations + cards)];
      const { total = 0, items = [] } = sinceNothing?.[flag].newly ?? {};
      // The digest leaves out what is wrong in the empty run too, and names only the first of many: then it gives no
      // complete answer.
      if (total === calculations + cards && total === items.length)
        answers[`things ${flag}`] = items.map(([line = '']) =>
          line.replace(/^(\S+) .*?\(([^()]*)\)(?:, of .*)?$/, '$1 $2'),
        );
    }
  }
  return answers;
};

const byAssistants: Reader = async (store, given) => {
  await using server = await connect(contextOver(store));
  const call = async (tool: string, args: Record<string, unknown>) => {
    const { value, isError, text } = await server.call(tool, args);
    expect({ tool, args, error: isError ? text : '' }).toEqual({ tool, args, error: '' });
    return value['data'] as Readonly<Record<string, readonly Counted[]>>;
  };
  const naive = naiveModel(given);
  const answers: Record<string, string[]> = {};
  const { calculations, cards } = publishable(given);
  const isPublishable =
    [calculations, cards].flat().length === [given.calculations, given.cards].flat().length;
  for (const own of isPublishable ? naive.held : []) {
    const [kind = '', id = ''] = apart(own);
    const { records = [] } = await call('get', { source: `${kind}s`, id });
    for (const flag of kind === 'card' ? ofCards : flags) {
      const question = `${kind}s ${flag}`;
      answers[question] ??= [];
      if (records.some((record) => (record['flags'] as readonly string[]).includes(flag)))
        answers[question].push(own);
    }
  }
  const searched = async (source: string, line: (id: unknown, counts: Counted) => string) => {
    const { matches = [] } = await call('search', { text: '', source, limit: 100 });
    return matches.map(({ key, counts }) => line(key, counts as Counted));
  };
  answers['datasets'] = await searched('datasets', datasetLine);
  answers['owners'] = await searched('owners', ownerLine);
  for (const thing of new Set(naive.uses.map(({ used }) => used))) {
    const [kind = '', id = ''] = apart(thing);
    if (kind !== 'dataset' && kind !== 'calculation' && kind !== 'card') continue;
    for (const [question, hops] of [
      ['who uses', { hops: 1 }],
      ['what depends on', {}],
    ] as const) {
      const { dependents = [] } = await call('where_used', { id, kind, limit: 100, ...hops });
      answers[`${question} ${thing}`] = dependents.map((each) => `${each['kind']} ${each['id']}`);
    }
  }
  return answers;
};

const readers: Readonly<Record<string, Reader>> = {
  model: byModel,
  SQL: bySql,
  'saved queries': bySavedQueries,
  'where-used': byWhereUsed,
  report: byReport,
  'lists of the page': byLists,
  digest: byDigest,
  'tools of assistants': byAssistants,
};

const sorted = (answers: Answers): Answers =>
  Object.fromEntries(Object.entries(answers).map(([question, texts]) => [question, texts.toSorted()]));

async function expectSameAnswers(given: NaiveStore, as: 'lines' | 'parquet'): Promise<void> {
  const store = await publishStore(given, as);
  const naive = sorted(naiveAnswers(given));
  for (const [reader, ask] of Object.entries(readers)) {
    const answers = sorted(await ask(store, given));
    const expected = Object.keys(answers).map((question) => [question, naive[question]]);
    expect({ reader, as, answers }).toEqual({ reader, as, answers: Object.fromEntries(expected) });
  }
}

test.each(['lines', 'parquet'] as const)(
  'every reader returns the same ids over %s, whatever shape links have',
  (as) => expectSameAnswers(craftedStore, as),
  120_000,
);

test(
  'every reader returns the same ids if only narrowed snapshots are published',
  () => expectSameAnswers({ ...craftedStore, narrowed: ['calculations', 'cards'] }, 'parquet'),
  120_000,
);

test('every reader says that snapshots are narrowed', async () => {
  const store = await publishStore({ ...craftedStore, narrowed: ['calculations'] }, 'lines');
  const places = ['calculations.part', 'calculations.rest'];
  await using tables = await openTables(store);

  const { notes } = await tables.run('SELECT count(*) FROM calculations WHERE unused', { maxRows: 1 });
  const facts = await collectFacts({ store, now: Date.now, signal: new AbortController().signal });
  const { searched } = await whereUsed({ store, id: '1', kind: 'calculation', maxListed: 1 });

  expect(notes).toEqual([
    `no whole run of calculations is published: its rows are those of ${places.join(', ')}`,
  ]);
  expect(facts.narrowed).toEqual([{ source: 'calculations', places }]);
  expect(Object.keys(figuresOf(facts).as_of_runs)).toEqual(expect.arrayContaining(places));
  expect(searched.map(({ place }) => place)).toEqual(expect.arrayContaining(places));
});

test('SQL names the places in which nothing is published', async () => {
  await using tables = await openTables(
    await publishStore({ calculations: craftedStore.calculations }, 'lines'),
  );

  const { notes } = await tables.run('SELECT count(*) FROM calculations, cards', { maxRows: 1 });

  expect(notes).toEqual(['no run of cards is published: it has no rows']);
});

test('every reader returns the same ids over any store', async () => {
  const expectIt = (given: NaiveStore) => expectSameAnswers(given, 'lines');
  await fc.assert(fc.asyncProperty(anyStore, expectIt), { numRuns: 2, endOnFailure: true });
}, 120_000);

const readOnly = (store: Store): Store => ({
  ...store,
  put: async (key) => {
    throw new StoreError(`put ${key}`, { kind: 'denied', code: 'AccessDenied' });
  },
});

test('every reader returns the same ids if the store is read-only, or the model was deleted', async () => {
  const store = await publishStore(craftedStore, 'lines');
  const naive = sorted(naiveAnswers(craftedStore));
  const unused = 'calculations unused';

  const answer = async (of: Store) => {
    const query: Query = [unused, "'calculation ' || calculation_id", 'calculations WHERE unused'];
    return sorted(await bySelects(of as MemoryStore, [query]))[unused];
  };

  expect(await answer(readOnly(store))).toEqual(naive[unused]);
  expect(store.objects.has('model/latest.json')).toBe(false);
  expect(await answer(store)).toEqual(naive[unused]);
  for (const deleted of [/^(?:model|parquet)\//, /\.parquet$/]) {
    for (const key of [...store.objects.keys()]) if (deleted.test(key)) await store.delete(key);
    expect(await answer(store)).toEqual(naive[unused]);
  }
});
