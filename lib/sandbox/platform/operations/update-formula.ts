import { updateFormula } from '../../../platform/operations/update-formula.ts';
import { updateFormula as update } from '../calculations/formula-update.ts';
import { ok, operation, refused } from './operation.ts';

/** Contract 4.1; in practice PUT is documented, too. */
export const updateFormulaOperation = operation(
  updateFormula,
  ({ path, query, body }, { state, counter }) => {
    const updated = update(state.calculations, state.formulas, {
      id: path.calculationId,
      expression: body.expression,
      strict: query?.strict ?? false,
    });
    switch (updated.kind) {
      case 'not-found':
        return refused(404, `there is no calculation ${path.calculationId}`);
      case 'refused':
        return refused(400, updated.message);
      case 'updated':
        counter.updatedFormula(path.calculationId);
        return ok(updated.text);
      default:
        return updated satisfies never;
    }
  },
  { otherMethods: ['PUT'] },
);
