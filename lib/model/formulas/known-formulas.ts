import { hash } from 'node:crypto';
import { readAhead } from '../../base/index.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import { canonicalId } from '../rules/record-rules.ts';
import { findFormula, formulaKeys } from './formula-log.ts';
import { readImports, timeOfImport } from './imported-formulas.ts';

/** A formula whose text is known, from the newest update by platform-sync or the newest import. */
export type KnownFormula = {
  readonly expression: string;
  readonly name: string | null;
  /** The calculation's datasets according to the newest import; empty without an import. */
  readonly datasetIds: readonly string[];
  /** When it was set or imported, in epoch milliseconds. */
  readonly atMs: number;
  readonly source: 'update' | 'import';
};

/** The formulas whose text is known, which are read only when they are needed. */
export type KnownFormulas = {
  /** Identifies this set of formulas: it changes whenever an update or import is added. */
  readonly mark: string;
  /** Reads the formulas of these calculations, by canonical id. `ids`: by default all formulas are read. */
  readonly read: (ids?: ReadonlySet<string>) => Promise<ReadonlyMap<string, KnownFormula>>;
};

const PARALLEL_READS = 32;

/** Finds the formulas whose text is known, without reading them. */
export async function listFormulas(
  store: Pick<Store, 'get' | 'list'>,
  signal?: AbortSignal,
): Promise<KnownFormulas> {
  const updates = new Map<string, { readonly id: string; readonly key: string; readonly at: number }>();
  const imports: string[] = [];
  for await (const { key, id: spelling, at } of formulaKeys(store, signal)) {
    const id = canonicalId(spelling) ?? spelling;
    if (at >= (updates.get(id)?.at ?? 0)) updates.set(id, { id, key, at });
  }
  for await (const { key } of store.list('formulas/imported/', { signal }))
    if (!Number.isNaN(timeOfImport(key))) imports.push(key);
  const keys = [...imports, ...Array.from(updates.values(), ({ key }) => key)];
  return {
    mark: hash('sha256', keys.join('\n')),
    async read(ids) {
      const known = new Map<string, KnownFormula>();
      for (const { id: spelling, importedAt, ...row } of (await readImports(store, imports)).rows.values()) {
        const id = canonicalId(spelling) ?? spelling;
        const atMs = Date.parse(importedAt);
        if (ids?.has(id) !== false && atMs > (known.get(id)?.atMs ?? Number.NEGATIVE_INFINITY))
          known.set(id, { ...row, atMs, source: 'import' });
      }
      const newer = [...updates.values()].filter(
        ({ id, at }) => ids?.has(id) !== false && at >= (known.get(id)?.atMs ?? 0),
      );
      const read = async ({ id, key, at }: (typeof newer)[number]) => ({
        id,
        at,
        of: (await findFormula(store, key).catch(unlessDamaged()))?.calculation,
      });
      for await (const { id, at, of } of readAhead({
        items: newer,
        read,
        concurrency: PARALLEL_READS,
        signal,
      })) {
        const { expression, name } = of ?? {};
        const before = known.get(id);
        if (typeof expression !== 'string') continue;
        const called = typeof name === 'string' && name !== '' ? name : (before?.name ?? null);
        const datasetIds = before?.datasetIds ?? [];
        known.set(id, { expression, name: called, datasetIds, atMs: at, source: 'update' });
      }
      return known;
    },
  };
}
