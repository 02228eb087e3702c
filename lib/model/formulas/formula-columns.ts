import { hash } from 'node:crypto';
import { readAhead } from '../../base/index.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import { canonicalId, columnOf } from '../rules/record-rules.ts';
import { createUsesCollector, graphIn, type PackedUses, thingsIn } from '../uses-graph.ts';
import { findFormula, formulaKeys } from './formula-log.ts';

/** Formulas whose text is known: by the calculation's canonical id, the key of our last update. */
export type KnownFormulas = {
  readonly store: Pick<Store, 'get'>;
  readonly keys: ReadonlyMap<string, string>;
  /** Equal for equal formulas. */
  readonly mark: string;
  readonly signal: AbortSignal | undefined;
};

export async function listFormulas(
  store: Pick<Store, 'get' | 'list'>,
  signal?: AbortSignal,
): Promise<KnownFormulas> {
  const newest = new Map<string, { readonly key: string; readonly at: number }>();
  for await (const { key, id: spelling, at } of formulaKeys(store, signal)) {
    const id = canonicalId(spelling) ?? spelling;
    if (at >= (newest.get(id)?.at ?? 0)) newest.set(id, { key, at });
  }
  const keys = new Map([...newest].map(([id, { key }]) => [id, key]));
  return { store, keys, mark: hash('sha256', [...keys.values()].join('\n')), signal };
}

const AT_ONCE = 32;

/**
 * Adds to uses the columns that known formulas read, for each dataset that the calculation is on. Existing nodes keep
 * their numbers. `formulas`: how many texts were read.
 */
export async function withColumns(
  uses: PackedUses,
  known: KnownFormulas,
): Promise<{ readonly uses: PackedUses; readonly formulas: number }> {
  if (known.keys.size === 0) return { uses, formulas: 0 };
  // Loaded when needed: the parser is large.
  const { analyzeFormula } = await import('../../formula/index.ts');
  const datasets = datasetsOf(uses, known.keys);
  const collector = createUsesCollector();
  collector.addPacked(uses);
  let formulas = 0;
  const read = async ([id, key]: readonly [string, string]) => ({
    user: { kind: 'calculation', id } as const,
    text: (await findFormula(known.store, key).catch(unlessDamaged()))?.calculation['expression'],
  });
  for await (const { user, text } of readAhead({
    items: [...known.keys],
    read,
    concurrency: AT_ONCE,
    signal: known.signal,
  })) {
    if (typeof text !== 'string') continue;
    formulas += 1;
    for (const column of analyzeFormula(text).columns)
      for (const dataset of datasets.get(user.id) ?? ['']) {
        const used = columnOf(dataset, column);
        if (used) collector.add({ user, used, relation: 'reads', validity: null, statedBy: 'formula' });
      }
  }
  return { uses: collector.pack(), formulas };
}

/** The datasets that each of these calculations is on, by the calculation's id. */
function datasetsOf(uses: PackedUses, wanted: Pick<KnownFormulas['keys'], 'has'>) {
  const { kindAt, thingAt } = thingsIn(uses.things);
  const { user, used } = graphIn(uses);
  const found = new Map<string, string[]>();
  for (let edge = 0; edge < user.length; edge += 1) {
    const by = user[edge] ?? 0;
    const of = used[edge] ?? 0;
    if (kindAt(of) !== 'dataset' || kindAt(by) !== 'calculation') continue;
    const { id } = thingAt(by);
    if (wanted.has(id)) found.set(id, [...(found.get(id) ?? []), thingAt(of).id]);
  }
  return found;
}
