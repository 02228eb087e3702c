import { checkedBy } from '../../../base/index.ts';
import type { Platform } from '../../../platform/index.ts';
import { updateFormula } from '../../../platform/operations/update-formula.ts';
import { type Calculation, calculationSchema } from '../../../platform/records.ts';
import type { RunJob } from '../../turn.ts';
import type { UpdateFormulaJob } from './message.ts';
import { refuseIfChanged } from './refuse-if-changed.ts';

/** True if the platform stored a formula that it cannot parse. */
export const isInvalid = ({ status }: Pick<Calculation, 'status'>): boolean =>
  status?.toUpperCase() === 'INVALID';

/** What is said then. */
export const storedInvalid = (calculationId: string): string =>
  `calculation ${calculationId}: expected a formula that the platform can parse, got one that it calls INVALID; it is stored`;

/**
 * Sets a calculation's formula, once, if nobody has changed it since; the response must have the expression sent. One that
 * the platform stored as INVALID ends as failed, of the kind `invalid-formula`.
 */
export function formulaRunner(platform: Platform): RunJob<UpdateFormulaJob> {
  return async (job, { signal, share, beforeSend, onLeave }) => {
    const { calculationId, expression, strict, unlessChangedSince: sinceMs, name } = job;
    if (sinceMs !== undefined && name !== undefined)
      await refuseIfChanged({ platform, id: calculationId, name, sinceMs, signal });
    const input = { path: { calculationId }, query: { strict }, body: { expression } };
    const { text, json } = await platform.call.raw(updateFormula, input, {
      signal,
      share,
      beforeSend,
      onLeave,
      once: true,
      finishes: true,
    });
    const response = text.trim();
    const updated = checkedBy(calculationSchema, json);
    if (updated.success && updated.data.expression === expression)
      return isInvalid(updated.data)
        ? {
            status: 'failed',
            error: { kind: 'invalid-formula', message: storedInvalid(calculationId) },
            response,
          }
        : { status: 'done', response };
    const message = updated.success
      ? 'the expression in the response is not the one that was sent: look at the calculation'
      : 'the response does not match the contract: look at the calculation';
    return { status: updated.success ? 'failed' : 'unknown', error: { kind: 'answer', message }, response };
  };
}
