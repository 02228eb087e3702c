import type { Column, Dataset } from '../records/datasets.ts';
import { activeLinksOf, type Calculation } from './calculation.ts';
import { calculationText, type FormulaFacts, formulaFacts } from './formula-facts.ts';
import { formulaText } from './formula-text.ts';

/** The formulas of all calculations. Those that nobody set are drawn, and looked at only when asked for. */
export type Formulas = {
  expressionOf(calculation: Calculation): string;
  /** What is true of a formula if the calculation has it. */
  factsOf(calculation: Calculation, expression: string): FormulaFacts;
  dataTypeOf(calculation: Calculation): string;
  /** The JSON of the whole calculation, as an update answers it. */
  textOf(calculation: Calculation): string;
};

/** The most data types that are kept for the filter over them. */
const KEPT_TYPES = 65_536;

export function createFormulas(seed: number, datasets: readonly Dataset[]): Formulas {
  const types = new Map<string, string>();
  const columnsOf = ({ datasetIndex }: Calculation) =>
    datasetIndex === undefined ? undefined : datasets[datasetIndex]?.columns;
  const expressionOf = (calculation: Calculation) =>
    calculation.expression ?? formulaText({ seed, calculation, columns: columnsOf(calculation) });

  const factsOf = (calculation: Calculation, expression: string) => {
    // A dataset that is gone has no columns; a calculation that never had one cannot lack any.
    const isOrphaned = calculation.links.some(({ resource }) => resource.type === 'DATA_SOURCE');
    return formulaFacts(expression, columnsOf(calculation) ?? (isOrphaned ? [] : undefined));
  };

  return {
    expressionOf,
    factsOf,
    dataTypeOf(calculation) {
      const expression = expressionOf(calculation);
      const shape = shapeOf(expression, columnsOf(calculation));
      const dataType = types.get(shape) ?? factsOf(calculation, expression).dataType;
      if (types.size >= KEPT_TYPES) types.clear();
      types.set(shape, dataType);
      return dataType;
    },
    textOf(calculation) {
      const expression = expressionOf(calculation);
      return calculationText(
        calculation,
        expression,
        factsOf(calculation, expression),
        activeLinksOf(calculation),
      );
    },
  };
}

/** A formula with the type of each column in place of its name: formulas of one shape have one data type. */
function shapeOf(expression: string, columns: readonly Column[] | undefined): string {
  return expression.replaceAll(
    /`([^`]*)`/g,
    (_, name) => `\`${columns?.find((column) => column.name === name)?.type}\``,
  );
}
