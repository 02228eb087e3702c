import { type CalculationRow, compareIds, type Platform } from '../../../platform/index.ts';

export type CalculationToFind = {
  readonly platform: Pick<Platform, 'calculations'>;
  readonly id: string;
  /** Narrows the search. Default: all calculations are read, in the order of their ids, up to this one. */
  readonly name?: string | undefined;
  readonly signal: AbortSignal;
};

/** `degraded`: the platform says that rows may be missing, so a row that was not found may exist all the same. */
export type FoundCalculation = { readonly row: CalculationRow | undefined; readonly degraded: boolean };

/** Finds a calculation by its id: the platform has no request for one, only a search. */
export async function findCalculation(given: CalculationToFind): Promise<FoundCalculation> {
  const { platform, id, name, signal } = given;
  const search = { sort: { field: 'id', ascending: true }, ...(name === undefined ? {} : { name }) };
  let isDegraded = false;
  for await (const { rows, degraded } of platform.calculations.pages(search, { signal })) {
    const row = rows.find((each) => compareIds(each.id, id) === 0);
    isDegraded ||= degraded;
    if (row !== undefined) return { row, degraded: isDegraded };
    const [first, last] = [rows.at(0), rows.at(-1)];
    const isInOrder = first !== undefined && last !== undefined && compareIds(first.id, last.id) <= 0;
    if (isInOrder && compareIds(last.id, id) > 0) break;
  }
  return { row: undefined, degraded: isDegraded };
}
