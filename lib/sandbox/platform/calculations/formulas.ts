import type { Column, Dataset } from '../records/datasets.ts';
import {
  activeLinksOf,
  type Calculation,
  hasDataset,
  type Link,
  link,
  type Reference,
} from './calculation.ts';
import type { CalculationTable } from './calculation-table.ts';
import { calculationText, type FormulaFacts, formulaFacts } from './formula-facts.ts';
import { formulaText } from './formula-text.ts';

/** The formulas of all calculations. Those that nobody has set are drawn and analysed only when needed. */
export type Formulas = {
  expressionOf(calculation: Calculation): string;
  factsOf(calculation: Calculation, expression: string): FormulaFacts;
  dataTypeOf(calculation: Calculation): string;
  textOf(calculation: Calculation): string;
};

const CACHED_TYPES = 65_536;

export function createFormulas(seed: number, datasets: readonly Dataset[]): Formulas {
  const types = new Map<string, string>();
  const columnsOf = ({ datasetIndex }: Calculation) =>
    datasetIndex === undefined ? undefined : datasets[datasetIndex]?.columns;
  const expressionOf = (calculation: Calculation) =>
    calculation.expression ?? formulaText({ seed, calculation, columns: columnsOf(calculation) });

  const factsOf = (calculation: Calculation, expression: string) => {
    // A deleted dataset has no columns; a calculation that never had a dataset cannot lack any.
    return formulaFacts(expression, columnsOf(calculation) ?? (hasDataset(calculation) ? [] : undefined));
  };

  return {
    expressionOf,
    factsOf,
    dataTypeOf(calculation) {
      const expression = expressionOf(calculation);
      const shape = shapeOf(expression, columnsOf(calculation));
      const dataType = types.get(shape) ?? factsOf(calculation, expression).dataType;
      if (types.size >= CACHED_TYPES) types.clear();
      types.set(shape, dataType);
      return dataType;
    },
    textOf(calculation) {
      const expression = expressionOf(calculation);
      return calculationText(
        { ...calculation, links: [...calculation.links, ...ownUses(calculation)] },
        expression,
        factsOf(calculation, expression),
        activeLinksOf(calculation),
      );
    },
  };
}

/** Formulas of the same shape have the same data type. */
function shapeOf(expression: string, columns: readonly Column[] | undefined): string {
  return expression.replaceAll(
    /`([^`]*)`/g,
    (_, name) => `\`${columns?.find((column) => column.name === name)?.type}\``,
  );
}

export type FormulaUpdate =
  | { readonly kind: 'updated'; readonly text: string }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'refused'; readonly message: string };

export type UpdateRequest = {
  readonly id: string;
  readonly expression: string;
  /** Refuses a formula that does not parse or uses a column that the dataset lacks, instead of storing it. */
  readonly strict: boolean;
};

export function updateFormula(
  table: CalculationTable,
  formulas: Formulas,
  request: UpdateRequest,
): FormulaUpdate {
  const before = table.get(request.id);
  if (before === undefined) return { kind: 'not-found' };
  const facts = formulas.factsOf(before, request.expression);
  if (request.strict && facts.objection !== undefined) return { kind: 'refused', message: facts.objection };
  const references = checkedReferences(table, request.id, facts);
  const isWhole = references.every(({ valid }) => valid === 'VALID');
  const after = table.change(request.id, {
    expression: request.expression,
    references,
    status: isWhole ? facts.status : 'INVALID',
  });
  return after === undefined ? { kind: 'not-found' } : { kind: 'updated', text: formulas.textOf(after) };
}

/** The whole record, unlike a search row, holds what the formula refers to in its `links` as well. */
const ownUses = ({ references }: Calculation): readonly Link[] =>
  references.map(({ id, valid }) => link('FUNCTION_TEMPLATE', id, false, valid));

/** References may nest, but never lead back to the calculation itself. */
function checkedReferences(
  table: CalculationTable,
  id: string,
  { references }: FormulaFacts,
): readonly Reference[] {
  return references.map((reference) => {
    if (table.get(reference.id) === undefined) return { ...reference, valid: 'ILLEGAL_REFERENCE' };
    return { ...reference, valid: leadsTo(table, reference.id, id) ? 'INCOMPATIBLE_LINK' : 'VALID' };
  });
}

function leadsTo(table: CalculationTable, from: string, id: string): boolean {
  const reached = new Set([from]);
  for (const each of reached) for (const next of table.get(each)?.references ?? []) reached.add(next.id);
  return reached.has(id);
}
