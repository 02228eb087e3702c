import * as z from 'zod/mini';
import { filledText, yesOrNo } from '../../../json/inputs.ts';

const upperCase = z.pipe(
  filledText,
  z.transform((text: string) => text.toUpperCase()),
);

/** A filter of a file search. */
export const whereSchema = z.strictObject(
  {
    field: filledText,
    operator: upperCase,
    value: z.array(z.string({ error: 'text' }), { error: 'a list of texts' }),
    not: z.optional(yesOrNo),
  },
  { error: 'an object of field, operator and value' },
);

export type Where = z.input<typeof whereSchema>;

/** What `readWhere` expects. */
export const EXPECTED_WHERE = 'FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000, or FIELD:IS_NULL';

/**
 * Parses `FIELD:OPERATOR:VALUE` as a filter: `!OPERATOR` negates it, IN takes values separated by commas, IS_NULL takes
 * none. Undefined for any other text.
 */
export function readWhere(text: string): Where | undefined {
  const [, field, not, operator, value] = /^([^:]+):(!?)([A-Za-z_]+)(?::(.*))?$/s.exec(text) ?? [];
  if (field === undefined || operator === undefined) return undefined;
  const takesNone = operator.toUpperCase() === 'IS_NULL';
  if ((value !== undefined) === takesNone) return undefined;
  const values = value === undefined ? [] : operator.toUpperCase() === 'IN' ? value.split(',') : [value];
  return { field, operator: operator.toUpperCase(), value: values, ...(not === '!' ? { not: true } : {}) };
}
