import type { Calculation } from './calculation.ts';
import {
  type CalculationFilter,
  calculationFilter,
  type FilterFacts,
  type Matches,
} from './calculation-filters.ts';
import type { CalculationTable } from './calculation-table.ts';

type CalculationQuery = {
  readonly filters: readonly CalculationFilter[];
  readonly name: string;
  readonly sort: { readonly field: string; readonly ascending: boolean };
  readonly limit: number;
  readonly offset: number;
  /** Sequences that the total counts, but that are on no page. */
  readonly hidden?: ReadonlySet<number>;
};

type CalculationPage =
  | { readonly kind: 'page'; readonly totalHits: number; readonly sequences: readonly number[] }
  | { readonly kind: 'refused'; readonly message: string };

export type CalculationSearch = (query: CalculationQuery) => CalculationPage;

/** Searches a table. The matches are cached until the table changes, so that the next page is just a slice. */
export function createCalculationSearch(table: CalculationTable, facts: FilterFacts): CalculationSearch {
  let cached: { readonly key: string; readonly sequences: readonly number[] } | undefined;

  const narrowed = (sorted: readonly number[], query: CalculationQuery, filters: readonly Matches[]) => {
    if (filters.length === 0 && query.name === '') return sorted;
    const key = JSON.stringify(
      [table.version(), query.filters, query.name, query.sort.field.toLowerCase()],
      digits,
    );
    if (cached?.key === key) return cached.sequences;
    const name = query.name.toLowerCase();
    const fits = (calculation: Calculation) =>
      calculation.name.toLowerCase().includes(name) && filters.every((matches) => matches(calculation));
    cached = { key, sequences: sorted.filter((sequence) => fits(table.at(sequence))) };
    return cached.sequences;
  };

  return (query) => {
    const sorted = sortedBy(table, query.sort.field);
    if (sorted === undefined) return { kind: 'refused', message: `unknown sort field ${query.sort.field}` };
    const results = query.filters.map((filter) => calculationFilter(filter, facts));
    const unknown = results.find((result) => result.kind === 'unknown');
    if (unknown !== undefined) return { kind: 'refused', message: `unknown filter field ${unknown.field}` };
    const filters = results.flatMap((result) => (result.kind === 'filter' ? [result.matches] : []));
    const hits = narrowed(sorted, query, filters);
    const { hidden } = query;
    const shown = hidden === undefined ? hits : hits.filter((sequence) => !hidden.has(sequence));
    return { kind: 'page', totalHits: hits.length, sequences: slice(shown, query) };
  };
}

function sortedBy(table: CalculationTable, field: string): readonly number[] | undefined {
  switch (field.toLowerCase()) {
    case 'id':
    case 'created':
      // Ids ascend in the order of creation.
      return table.byId();
    case 'name':
      return table.byName();
    default:
      return undefined;
  }
}

function slice(hits: readonly number[], { sort, offset, limit }: CalculationQuery): readonly number[] {
  if (sort.ascending) return hits.slice(offset, offset + limit);
  return hits.slice(Math.max(0, hits.length - offset - limit), Math.max(0, hits.length - offset)).reverse();
}

const digits = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
