import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnsOfRuns, computeModel, lastRuns, type Model, modelOf } from '../../lib/model/index.ts';
import { type Flag, flagBits, IN_SNAPSHOT } from '../../lib/model/rules/index.ts';
import { sources } from '../../lib/snapshot/sources/sources.ts';
import { flagNames, type NaiveStore, naiveModel } from './naive.ts';
import { publishStore } from './publish-store.ts';
import { anyStore, craftedStore, link } from './stores.ts';

function nameAt({ things }: Model, node: number): string {
  const { kind, id } = things.thingAt(node);
  return `${kind} ${id}`;
}

/** Publishes the records as lines, and computes the model from them. */
async function modelIn(given: NaiveStore): Promise<Model> {
  const store = await publishStore(given, 'lines');
  const { runs } = await lastRuns(store, sources, (fault) => {
    throw new Error(fault);
  });
  return modelOf(await computeModel(columnsOfRuns({ store, runs })));
}

const sorted = (texts: Iterable<string>) => [...texts].sort();

const having = (model: Model, bit: number) =>
  sorted(
    [...model.flags.keys()]
      .filter((node) => ((model.flags[node] ?? 0) & bit) !== 0)
      .map((node) => nameAt(model, node)),
  );

const usesIn = (model: Model) =>
  sorted(
    Array.from(model.graph.user, (user, edge) =>
      [
        nameAt(model, user),
        model.graph.relationAt(edge),
        nameAt(model, model.graph.used[edge] ?? 0),
        model.graph.validityAt(edge),
      ].join('|'),
    ),
  );

async function expectNaive(store: NaiveStore): Promise<void> {
  const model = await modelIn(store);
  const naive = naiveModel(store);

  expect(usesIn(model)).toEqual(
    sorted(
      naive.uses.map(({ user, used, relation, validity }) => [user, relation, used, validity].join('|')),
    ),
  );
  expect(having(model, IN_SNAPSHOT)).toEqual(sorted(naive.held));
  for (const [flag, name] of Object.entries(flagNames))
    expect({ [flag]: having(model, flagBits[flag as Flag]) }).toEqual({ [flag]: sorted(naive[name]) });
  expect(
    new Map(
      model.datasets.map(({ dataset_id, cards, calculations, broken_links }) => [
        `dataset ${dataset_id}`,
        { cards, calculations, brokenLinks: broken_links },
      ]),
    ),
  ).toEqual(naive.datasets);
  expect(
    new Map(
      model.owners.map((owner) => [
        owner.user_id,
        {
          ...{ calculations: owner.calculations, cards: owner.cards, files: owner.files },
          ...{ dataFiles: owner.data_files, brokenLinks: owner.broken_links, invalid: owner.invalid },
          ...{ missingTarget: owner.missing_target, affected: owner.affected, unused: owner.unused },
          ...{ locked: owner.locked, oldest: owner.oldest_modified, name: owner.name },
        },
      ]),
    ),
  ).toEqual(naive.owners);
}

test('a link to a calculation names what uses it, and neither of two calculations with only a link between them counts as unused', async () => {
  const linked = (id: number, ...users: readonly number[]) => ({
    id,
    links: users.map((user) => link('FUNCTION_TEMPLATE', String(user))),
  });
  const known = { id: 4, functionTemplateDependencies: ['5'] };
  // The full record of a calculation may list its own uses as links.
  const full = { id: 6, links: [link('FUNCTION_TEMPLATE', '7')], functionTemplateDependencies: ['7'] };
  const { uses, unused } = naiveModel({
    calculations: [linked(1, 2), { id: 2 }, { id: 3 }, known, { id: 5 }, full, { id: 7 }],
  });

  expect(uses.map(({ user, used }) => [user, used])).toEqual([
    ['calculation 2', 'calculation 1'],
    ['calculation 4', 'calculation 5'],
    ['calculation 6', 'calculation 7'],
  ]);
  expect(unused).toEqual(new Set(['calculation 3', 'calculation 4', 'calculation 6']));
  await expectNaive({
    calculations: [linked(1, 2), { id: 2 }, { id: 3 }, known, { id: 5 }, full, { id: 7 }],
  });
});

describe('the model equals a naive computation', () => {
  test('for every shape that a link may have', () => expectNaive(craftedStore));

  test('if a run is narrowed, or nothing is published', async () => {
    await expectNaive({ ...craftedStore, narrowed: ['calculations'] });
    await expectNaive({ ...craftedStore, cards: undefined });
    await expectNaive({});
  });

  test('for broken things in cycles, which depend on themselves', async () => {
    const calculations = [[2], [3, 1], [3], [5], [2], [6]].map((others, at) => ({
      id: at + 1,
      status: [0, 2, 5].includes(at) ? 'INVALID' : 'VALID',
      links: others.map((other) => link('FUNCTION_TEMPLATE', String(other))),
    }));

    await expectNaive({ calculations });
  });

  test('for calculations that are in two narrowed runs', async () => {
    const calculations = [
      { id: 1, name: 'Revenue', owner: 5, status: 'VALID' },
      { id: 2, status: 'VALID' },
      { id: '01', name: 'Turnover', owner: 6, status: 'INVALID', locked: true },
      { id: '02', status: 'valid' },
    ];

    await expectNaive({ calculations, narrowed: ['calculations'] });
    await expectNaive({ calculations: calculations.toReversed(), narrowed: ['calculations'] });
  });

  test('for thousands of calculations and names', async () => {
    const calculations = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `name ${id % 1_500}` }));

    await expectNaive({ calculations });
  });

  test('for any small store', async () => {
    await fc.assert(fc.asyncProperty(anyStore, expectNaive), { numRuns: 60 });
  });
});
