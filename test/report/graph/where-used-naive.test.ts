import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../../lib/cli/command-line.ts';
import { createFakeTerminal } from '../../cli/fake-terminal.ts';
import { type NaiveStore, naiveModel, naiveUsers } from '../../model/naive.ts';
import { anyStore, craftedStore, lineOf } from '../../model/stores.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { connect, contextOver } from '../mcp/connect.ts';

const FINDABLE = ['dataset', 'calculation', 'card'];

async function publish({ calculations, cards, narrowed = [] }: NaiveStore): Promise<MemoryStore> {
  const store = createMemoryStore();
  for (const [source, records] of Object.entries({ calculations, cards })) {
    const isNarrowed = narrowed.some((each) => each === source);
    const place = (isNarrowed ? `${source}.part` : source) as 'calculations';
    if (records !== undefined) await publishLines(store, { place, run: monday, lines: records.map(lineOf) });
  }
  return store;
}

type Shown = {
  readonly hop: number;
  readonly kind: string;
  readonly id: string;
  readonly name?: string | null;
  readonly waysTotal: number;
  readonly ways: readonly {
    readonly relation: string;
    readonly kind: string;
    readonly id: string;
    readonly valid: string | null;
  }[];
};

async function byCommand(store: MemoryStore, kind: string, id: string) {
  const { terminal, out, err } = createFakeTerminal({ SYNC_STORE: 'memory' });
  const argv = ['where-used', '--kind', kind, '--json', '--', id];
  const code = await runCommandLine(argv, { ...terminal, openStore: async () => store });
  expect({ kind, id, code, err: err() }).toEqual({ kind, id, code: 0, err: '' });
  const { found } = JSON.parse(out());
  expect(found).toHaveLength(1);
  return found[0] as {
    inSnapshot: boolean;
    total: number;
    links: number;
    broken: number;
    dependents: Shown[];
  };
}

const sorted = (texts: Iterable<string>) => [...texts].sort();

/** What both say of everything that a store names is what the naive computation says. */
async function expectNaive(given: NaiveStore): Promise<void> {
  const store = await publish(given);
  await using server = await connect(contextOver(store));
  const { uses, held } = naiveModel(given);
  const isBad = (validity: string | null) => validity !== null && validity.toUpperCase() !== 'VALID';

  for (const own of new Set([...held, ...uses.flatMap(({ user, used }) => [user, used])])) {
    const [kind = '', id] = [own.slice(0, own.indexOf(' ')), own.slice(own.indexOf(' ') + 1)];
    if (!FINDABLE.includes(kind)) continue;
    const reached = naiveUsers(uses, own);
    const hopOf = (thing: string) => (thing === own ? 0 : reached.get(thing));
    const lines = sorted([...reached].map(([thing, hop]) => `${hop} ${thing}`));

    const found = await byCommand(store, kind, id);

    expect(found).toMatchObject({ inSnapshot: held.has(own), total: reached.size });
    expect(sorted(found.dependents.map((each) => `${each.hop} ${each.kind} ${each.id}`))).toEqual(lines);
    const naming = uses.filter(
      ({ user, used, relation }) => user !== used && own === (relation === 'uses' ? user : used),
    );
    expect([found.links, found.broken]).toEqual([
      naming.length,
      naming.filter(({ validity }) => isBad(validity)).length,
    ]);
    const ways = uses.flatMap(({ user, used, relation, validity }) => {
      const hop = hopOf(used);
      if (hop === undefined || reached.get(user) !== hop + 1) return [];
      return [`${user} ${relation} ${used} ${isBad(validity) ? validity : null}`];
    });
    const shown = found.dependents.flatMap((each) =>
      each.ways.map((way) => `${each.kind} ${each.id} ${way.relation} ${way.kind} ${way.id} ${way.valid}`),
    );
    expect(found.dependents.reduce((sum, { waysTotal }) => sum + waysTotal, 0)).toBe(ways.length);
    // The first five of each are named.
    expect(new Set(shown).size).toBe(
      found.dependents.reduce((sum, { waysTotal }) => sum + Math.min(5, waysTotal), 0),
    );
    expect(ways).toEqual(expect.arrayContaining(shown));

    const { value, text } = await server.call('where_used', { id, kind, limit: 100 });
    const data = value['data'] as { readonly dependents: readonly Shown[] } | undefined;
    expect({
      own,
      text: data && text,
      lines: sorted(data?.dependents.map((each) => `${each.hop} ${each.kind} ${each.id}`) ?? []),
    }).toEqual({ own, text, lines });
  }
}

test('the command and the tool say what a naive reading does, whatever shape links have', () =>
  expectNaive(craftedStore));

test('and over any store', async () => {
  await fc.assert(fc.asyncProperty(anyStore, expectNaive), { numRuns: 8 });
}, 30_000);
