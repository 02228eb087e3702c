import * as z from 'zod/mini';
import { checkedBy, filledText, wholeNumber, yesOrNo } from '../../../base/index.ts';
import { formulaKeys, storeFormula } from '../../../model/formulas/index.ts';
import { type Calculation, idSchema, type Platform } from '../../../platform/index.ts';
import { updateFormula as endpoint, isInvalidFormula } from '../../../platform/operations/index.ts';
import { INVALID_FORMULA, wasExecuted } from '../../ledger/job-row.ts';
import { bothOrNeither, common, type JobFrom } from '../../message/check-message.ts';
import { responseOf } from '../../result.ts';
import type { RunJob } from '../../send-context.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';
import { refuseIfChanged } from './find-calculation.ts';

const schema = z.strictObject({
  ...common,
  type: z.literal('update-formula', { error: 'update-formula' }),
  calculationId: idSchema,
  expression: filledText,
  strict: z.optional(yesOrNo),
  /** Epoch milliseconds: the formula is not set if the calculation changed after this. */
  unlessChangedSince: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  /** The calculation's name, by which the search finds its row. */
  name: z.optional(filledText),
});

/**
 * Sets a formula. Each message without an id is a separate job: if the formulas A, B and A are set in turn, the third
 * does not repeat the first.
 */
export const updateFormula: JobTypeDefinition<z.infer<typeof schema>, z.input<typeof schema>> = {
  schema,
  rules: bothOrNeither('unlessChangedSince', 'name'),
  defaultId: 'message-id',
  // A late repeat would undo a newer formula of another user.
  mayRepeat: () => false,
  // Checking for changes is a search, whose number of pages depends on the name.
  maxCalls: ({ unlessChangedSince }) => (unlessChangedSince === undefined ? 1 : undefined),
  judgeHere: ({ expression, strict }, { judgeFormula }) => judgeFormula(expression, 'expression', strict),
  replacesFormulaOf: ({ calculationId }) => calculationId,
  openRunner: async ({ platform }) => formulaRunner(platform),
  /**
   * Adds the formula that was set to the log of formulas, even if it is invalid. If a user settled the job, the formula
   * gets the time at which the job became unknown.
   */
  async afterEnd({ calculationId, expression }, { outcome, finishedAt, earlierFinishedAt }, { store }) {
    if (outcome.status !== 'done' && outcome.error?.kind !== INVALID_FORMULA) return;
    const response = await responseOf(store, outcome);
    const finishedAtMs = earlierFinishedAt ?? finishedAt;
    await storeFormula(store, { calculationId, expression, finishedAtMs, response });
  },
  /** Reopening the job would overwrite a formula that was set after it. */
  async reopenFault({ calculationId }, row, { store }) {
    const sinceMs = (wasExecuted(row.outcome?.error) ? row.finishedAt : row.startedAt) ?? row.createdAt;
    for await (const { id, at } of formulaKeys(store, new AbortController().signal, calculationId))
      if (id === calculationId && at > sinceMs)
        return `another formula was set at ${new Date(at).toISOString()}`;
    return undefined;
  },
  sample: ({ calculationId, expression }) => ({
    version: 1,
    type: 'update-formula',
    id: 'tour-formula',
    calculationId,
    expression,
  }),
};

/** The message about a formula that the platform stored even though it cannot parse it; undefined if it can. */
export const invalidFormula = (calculation: Pick<Calculation, 'id' | 'status'>): string | undefined =>
  isInvalidFormula(calculation)
    ? `calculation ${calculation.id}: expected a formula that the platform can parse, got one that it calls INVALID; it is stored`
    : undefined;

/**
 * Creates the runner, which sets a formula once, unless it was changed since. A formula that is stored as
 * INVALID fails the job, with the kind `invalid-formula`.
 */
function formulaRunner(platform: Platform): RunJob<JobFrom<z.infer<typeof schema>>> {
  return async (job, { signal, priority, beforeSend, onSend }) => {
    const { calculationId, expression, strict, unlessChangedSince: sinceMs, name } = job;
    if (sinceMs !== undefined && name !== undefined)
      await refuseIfChanged({ platform, id: calculationId, name, sinceMs, signal });
    const input = { path: { calculationId }, query: { strict }, body: { expression } };
    const options = { signal, priority, beforeSend, onSend, once: true, finishes: true };
    const { text, json } = await platform.call.raw(endpoint, input, options);
    const response = text.trim();
    const updated = checkedBy(endpoint.output(input), json);
    if (!updated.success) {
      const message = 'the response is about another calculation: check both on the platform';
      return { status: 'unknown', error: { kind: 'answer', message }, response };
    }
    const message = invalidFormula(updated.data);
    if (message === undefined) return { status: 'done', response };
    return { status: 'failed', error: { kind: INVALID_FORMULA, message }, response };
  };
}
