import * as z from 'zod/mini';
import { nearestName } from '../../../base/index.ts';
import { filledText, yesOrNo } from '../../../base/json/index.ts';
import { searchFiles } from '../../../platform/operations/index.ts';

/** The fields of a file, according to the contract. */
const FIELDS = ['id', ...Object.keys(searchFiles.records.members)];

const OPERATORS = [
  'EQUALS',
  'IN',
  'LIKE',
  'IS_NULL',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUAL',
  'LESS_THAN',
  'LESS_THAN_OR_EQUAL',
];

/** One of the names; the error says which was probably meant. */
const named = (what: string, names: readonly string[]) =>
  z.refine<string>((text) => names.includes(text), {
    error({ input }) {
      const written = String(input);
      const same = names.find((name) => name.toLowerCase() === written.toLowerCase());
      const nearest = same ?? nearestName(written, names);
      return `${what} (${names.join(', ')})${nearest === undefined ? '' : `, such as ${nearest}`}`;
    },
  });

/** A filter of a file search, of a field and an operator that the platform has. It checks the values itself. */
export const whereSchema = z.strictObject(
  {
    field: filledText.check(named('a field of a file', FIELDS)),
    operator: z.pipe(
      filledText,
      z.pipe(
        z.transform((text: string) => text.toUpperCase()),
        z.string().check(named('an operator', OPERATORS)),
      ),
    ),
    value: z.array(z.string({ error: 'text' }), { error: 'a list of texts' }),
    not: z.optional(yesOrNo),
  },
  { error: 'an object of field, operator and value' },
);

type Where = z.input<typeof whereSchema>;

export const EXPECTED_WHERE = 'FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000, or FIELD:IS_NULL';

/** A filter from `FIELD:OPERATOR:VALUE`, or undefined: `!OPERATOR` negates it, IN takes values with commas, IS_NULL none. */
export function readWhere(text: string): Where | undefined {
  const [, field, not, operator, value] = /^([^:]+):(!?)([A-Za-z_]+)(?::(.*))?$/s.exec(text) ?? [];
  if (field === undefined || operator === undefined) return undefined;
  const takesNone = operator.toUpperCase() === 'IS_NULL';
  if ((value !== undefined) === takesNone) return undefined;
  const values = value === undefined ? [] : operator.toUpperCase() === 'IN' ? value.split(',') : [value];
  return { field, operator: operator.toUpperCase(), value: values, ...(not === '!' ? { not: true } : {}) };
}
