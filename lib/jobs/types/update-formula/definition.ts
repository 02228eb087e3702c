import { responseOf } from '../../result.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';
import { storeFormula } from './formula-log.ts';
import { type UpdateFormulaInput, type UpdateFormulaMessage, updateFormulaChecks } from './message.ts';

/** Sets a calculation's formula. */
export const updateFormula: JobTypeDefinition<UpdateFormulaMessage, UpdateFormulaInput> = {
  checks: updateFormulaChecks,
  // A late repeat would undo somebody's newer formula.
  mayRepeat: () => false,
  stopsWhenCancelled: false,
  mustLastMs: (timeoutMs) => timeoutMs,
  allowFault: () => undefined,
  // Whether the calculation has changed is a search: of how many pages, its name decides.
  mostCalls: ({ unlessChangedSince }) => (unlessChangedSince === undefined ? 1 : undefined),
  faultsHere({ expression }, { analyzeFormula }) {
    const analysis = analyzeFormula(expression);
    return analysis.status === 'VALID'
      ? []
      : analysis.faults.map(({ line, column, message }) => `expression:${line}:${column}: ${message}`);
  },
  openRunner: async ({ platform }) => (await import('./runner.ts')).formulaRunner(platform),
  /** Adds the formula that was set to the log of formulas, an invalid one too. */
  async afterEnd({ calculationId }, { outcome, finishedAt: finishedAtMs }, { store }) {
    const isStored = outcome.status === 'done' || outcome.error?.kind === 'invalid-formula';
    const response = isStored ? await responseOf(store, outcome) : undefined;
    if (response !== undefined) await storeFormula(store, { calculationId, finishedAtMs, response });
  },
  beforeReopen: async () => undefined,
  sample: ({ calculationId, expression }) => ({
    version: 1,
    type: 'update-formula',
    id: 'tour-formula',
    calculationId,
    expression,
  }),
};
