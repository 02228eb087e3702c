import { analyzeFormula } from '../../formula/index.ts';
import { columnsOfRuns, describedRecords, lastRuns } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';
import type { SetRow } from './change-set.ts';

/**
 * Compares the ids and names of rows with the last published calculations. `faults`: an id that a whole snapshot does not
 * have, a name that is another calculation's. `unchecked`: by id, what nothing stored says.
 */
export async function checkRows(store: Store, rows: readonly SetRow[], signal: AbortSignal) {
  const { runs } = await lastRuns(store, ['calculations'], () => undefined);
  const columns = columnsOfRuns({ store, runs, signal });
  const ids = new Set(rows.map(({ id }) => id));
  const wanted = new Set(rows.map(({ name }) => name));
  const names = new Map<string, string | null>();
  const owners = new Map<string, string>();
  for await (const group of describedRecords(columns))
    for (const { id, name } of group) {
      if (ids.has(id)) names.set(id, name);
      if (name !== null && wanted.has(name)) owners.set(name, id);
    }
  const isWhole = columns.calculations?.isWhole === true;
  const faults = rows.flatMap(({ id, name }) => {
    const known = names.get(id);
    if (known === undefined && isWhole)
      return [
        `calculation ${id}: expected one that the last snapshot has; of a new one take a snapshot first`,
      ];
    const owner = name === null || known === name ? undefined : owners.get(name);
    if (owner === undefined || known === undefined) return [];
    return [
      `calculation ${id}: is ${JSON.stringify(known)}, and ${JSON.stringify(name)} is calculation ${owner}`,
    ];
  });
  const unchecked = new Map(
    rows.map((row) => [row.id, [...(names.has(row.id) ? [] : ['id', 'name']), ...newColumns(row)]]),
  );
  return { faults, unchecked };
}

/** Columns that no earlier formula of the calculation uses, so its dataset may not have them. */
function newColumns({ expression, was }: SetRow): readonly string[] {
  const known = new Set(analyzeFormula(was ?? '').columns);
  return analyzeFormula(expression)
    .columns.filter((name) => !known.has(name))
    .map((name) => `column ${name}`);
}
