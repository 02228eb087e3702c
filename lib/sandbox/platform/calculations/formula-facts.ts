import { printJson } from '../../../base/index.ts';
import { analyzeFormula, checkSum } from '../../../formula/index.ts';
import { assumptions } from '../assumptions.ts';
import type { Column } from '../records/datasets.ts';
import type { Calculation, FormulaReference } from './calculation.ts';

/** What the platform reports about a formula (contract 2.1). */
export type FormulaFacts = {
  readonly status: Calculation['status'];
  readonly dataType: string;
  readonly checkSum: string;
  readonly functions: readonly string[];
  readonly columnPositions: readonly { readonly columnName: string; readonly columnPosition: number }[];
  readonly aggregated: boolean;
  readonly analytic: boolean;
  readonly nonAggregatedColumns: readonly string[];
  readonly references: readonly FormulaReference[];
  /** Why `strict` refuses it. */
  readonly objection: string | undefined;
};

/** Analyses a formula over the columns of its dataset; without a dataset, unknown columns are not an error. */
export function formulaFacts(expression: string, columns: readonly Column[] | undefined): FormulaFacts {
  const types = new Map(columns?.map(({ name, type }) => [name, type]));
  const analysis = analyzeFormula(expression, types);
  const missing = columns === undefined ? [] : analysis.columns.filter((name) => !types.has(name));
  const objection =
    analysis.status === 'INVALID'
      ? `the formula does not parse: ${analysis.faults[0]?.message ?? ''}`
      : missing.length > 0
        ? `the dataset has no column ${missing.map((name) => `\`${name}\``).join(', ')}`
        : undefined;
  const { functions, columnPositions, aggregated, analytic, nonAggregatedColumns, references } = analysis;
  return {
    status: objection === undefined ? 'VALID' : 'INVALID',
    dataType: analysis.status === 'VALID' ? analysis.dataType : assumptions.dataTypeOfInvalid,
    checkSum: checkSum(expression),
    functions,
    columnPositions,
    aggregated,
    analytic,
    nonAggregatedColumns,
    references,
    objection,
  };
}

/** The JSON of a whole calculation: every field of contract 2.1 in order, ids as integers with all their digits. */
export function calculationText(
  calculation: Calculation,
  expression: string,
  facts: FormulaFacts,
  activeLinks: unknown,
): string {
  const { id, name, owner, locked, global, links, legacyId, lastModified, created, status } = calculation;
  const { aggregated, analytic, nonAggregatedColumns, dataType, columnPositions, functions } = facts;
  const { cacheWindow, archived, hidden, variable } = calculation;
  return printJson({
    id: BigInt(id),
    name,
    owner,
    locked,
    global,
    expression,
    checkSum: facts.checkSum,
    links,
    legacyId,
    lastModified,
    created,
    aggregated,
    analytic,
    nonAggregatedColumns,
    dataType,
    status,
    cacheWindow,
    columnPositions,
    functions,
    functionTemplateDependencies: calculation.references.map((reference) => BigInt(reference.id)),
    archived,
    hidden,
    variable,
    activeLinks,
  });
}
