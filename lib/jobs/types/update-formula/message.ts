import * as z from 'zod/mini';
import { filledText, wholeNumber } from '../../../base/index.ts';
import { idSchema } from '../../../platform/index.ts';
import type { MessageChecks } from '../../message/check-message.ts';
import { common, together, yesOrNo } from '../../message/fields.ts';
import type { JobBy } from '../../message/read-job.ts';

const updateFormulaMessage = z.strictObject({
  ...common,
  type: z.literal('update-formula', { error: 'update-formula' }),
  calculationId: idSchema,
  expression: filledText,
  strict: z.optional(yesOrNo),
  /** Epoch milliseconds: a calculation that changed later is left alone. */
  unlessChangedSince: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  /** The calculation's name, which the search finds its row by. */
  name: z.optional(filledText),
});

export type UpdateFormulaMessage = z.infer<typeof updateFormulaMessage>;
export type UpdateFormulaInput = z.input<typeof updateFormulaMessage>;
export type UpdateFormulaJob = JobBy<UpdateFormulaMessage>;

/**
 * What the message of an `update-formula` job is checked by. Two messages without an id are two updates, even with
 * equal content: of the updates A, B, A the third is not the first.
 */
export const updateFormulaChecks: MessageChecks<UpdateFormulaMessage, UpdateFormulaInput> = {
  schema: updateFormulaMessage,
  rules: together('unlessChangedSince', 'name'),
  defaultId: 'message-id',
};
