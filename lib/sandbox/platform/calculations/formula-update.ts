import type { Link } from './calculation.ts';
import type { CalculationTable } from './calculation-table.ts';
import type { FormulaFacts } from './formula-facts.ts';
import type { Formulas } from './formulas.ts';
import { link } from './seeded-calculation.ts';

export type FormulaUpdate =
  /** `text` is the JSON of the whole calculation after the update. */
  | { readonly kind: 'updated'; readonly text: string }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'refused'; readonly message: string };

export type UpdateRequest = {
  /** Digits. */
  readonly id: string;
  readonly expression: string;
  /** Refuses a formula that does not parse or uses a column that the dataset lacks, instead of storing it. */
  readonly strict: boolean;
};

/** Sets a formula, and with it the calculation's status, references and links. */
export function updateFormula(
  table: CalculationTable,
  formulas: Formulas,
  request: UpdateRequest,
): FormulaUpdate {
  const before = table.get(request.id);
  if (before === undefined) return { kind: 'not-found' };
  const facts = formulas.factsOf(before, request.expression);
  if (request.strict && facts.objection !== undefined) return { kind: 'refused', message: facts.objection };
  const dependencies = dependenciesOf(table, request.id, facts);
  const isWhole = dependencies.every(({ valid }) => valid === 'VALID');
  const after = table.change(request.id, {
    expression: request.expression,
    references: facts.references,
    links: [...before.links.filter(({ resource }) => resource.type !== 'FUNCTION_TEMPLATE'), ...dependencies],
    status: isWhole ? facts.status : 'INVALID',
  });
  return after === undefined ? { kind: 'not-found' } : { kind: 'updated', text: formulas.textOf(after) };
}

/** References are one level deep, and never to the calculation itself. */
function dependenciesOf(table: CalculationTable, id: string, { references }: FormulaFacts): readonly Link[] {
  return references.map((reference) => {
    const target = table.get(reference.id);
    if (target === undefined) return link('FUNCTION_TEMPLATE', reference.id, false, 'ILLEGAL_REFERENCE');
    const isDeep = reference.id === id || target.references.length > 0;
    return link('FUNCTION_TEMPLATE', reference.id, false, isDeep ? 'INCOMPATIBLE_LINK' : 'VALID');
  });
}
