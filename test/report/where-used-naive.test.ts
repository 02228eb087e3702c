import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FindableKind } from '../../lib/report/findable-kinds.ts';
import { whereUsed } from '../../lib/report/where-used.ts';
import { type NaiveStore, naiveModel, naiveUsers } from '../model/naive.ts';
import { publishStore } from '../model/publish-store.ts';
import { anyStore, craftedStore } from '../model/stores.ts';
import { scaled } from '../scale.ts';
import type { MemoryStore } from '../store/memory-store.ts';

const FINDABLE = ['dataset', 'calculation', 'card'];

async function found(store: MemoryStore, kind: FindableKind, id: string) {
  const { found: things } = await whereUsed({ store, kind, id, maxListed: 1_000 });
  expect({ kind, id, things: things.length }).toEqual({ kind, id, things: 1 });
  return things[0] as (typeof things)[number];
}

const sorted = (texts: Iterable<string>) => [...texts].sort();

/** Asserts that the users of every record in a store equal those of the naive computation. */
async function expectNaive(given: NaiveStore): Promise<void> {
  const store = await publishStore(given, 'lines');
  const { uses, held } = naiveModel(given);
  const isBad = (validity: string | null) => validity !== null && validity.toUpperCase() !== 'VALID';

  for (const own of new Set([...held, ...uses.flatMap(({ user, used }) => [user, used])])) {
    const [kind = '', id] = [own.slice(0, own.indexOf(' ')), own.slice(own.indexOf(' ') + 1)];
    if (!FINDABLE.includes(kind)) continue;
    const reached = naiveUsers(uses, own);
    const hopOf = (thing: string) => (thing === own ? 0 : reached.get(thing));
    const lines = sorted([...reached].map(([thing, hop]) => `${hop} ${thing}`));

    const { dependents, ...thing } = await found(store, kind as FindableKind, id);

    expect(thing).toMatchObject({ inSnapshot: held.has(own), total: reached.size });
    expect(sorted(dependents.map((each) => `${each.hop} ${each.kind} ${each.id}`))).toEqual(lines);
    const naming = uses.filter(
      ({ user, used, relation, by }) =>
        user !== used &&
        own === (relation === 'uses' || (relation === 'refers to' && by === used) ? user : used),
    );
    expect([thing.links, thing.broken]).toEqual([
      naming.length,
      naming.filter(({ validity }) => isBad(validity)).length,
    ]);
    const ways = uses.flatMap(({ user, used, relation, validity }) => {
      const hop = hopOf(used);
      if (hop === undefined || reached.get(user) !== hop + 1) return [];
      return [`${user} ${relation} ${used} ${isBad(validity) ? validity : null}`];
    });
    const shown = dependents.flatMap((each) =>
      each.ways.map((way) => `${each.kind} ${each.id} ${way.relation} ${way.kind} ${way.id} ${way.valid}`),
    );
    expect(dependents.reduce((sum, { waysTotal }) => sum + waysTotal, 0)).toBe(ways.length);
    // The first five of each are named.
    expect(new Set(shown).size).toBe(
      dependents.reduce((sum, { waysTotal }) => sum + Math.min(5, waysTotal), 0),
    );
    expect(ways).toEqual(expect.arrayContaining(shown));
  }
}

test('where-used finds the same users of a record as a naive search, for any shape of links', () =>
  expectNaive(craftedStore));

test('where-used finds the same users of a record as a naive search, for any store', async () => {
  await fc.assert(fc.asyncProperty(anyStore, expectNaive), { numRuns: scaled(4, 40) });
}, 30_000);
