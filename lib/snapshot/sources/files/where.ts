import * as z from 'zod/mini';
import { filledText, nearestName, utcTime, yesOrNo } from '../../../base/index.ts';

/** What the values of a field are. */
type Kind = 'text' | 'integer' | 'time';

/** The fields of a file, according to the contract. */
const FIELDS: Readonly<Record<string, Kind>> = {
  id: 'text',
  path: 'text',
  name: 'text',
  fileType: 'text',
  contentType: 'text',
  size: 'integer',
  created: 'time',
  createdBy: 'integer',
  hash: 'text',
  hashAlgorithm: 'text',
  downloadUrl: 'text',
  connectorKey: 'text',
  indexStatus: 'text',
  indexReason: 'text',
};

/** The operators, and how many values each takes at least and at most. */
const OPERATORS: Readonly<Record<string, readonly [number, number]>> = {
  EQUALS: [1, 1],
  IN: [1, Number.POSITIVE_INFINITY],
  LIKE: [1, 1],
  IS_NULL: [0, 0],
  GREATER_THAN: [1, 1],
  GREATER_THAN_OR_EQUAL: [1, 1],
  LESS_THAN: [1, 1],
  LESS_THAN_OR_EQUAL: [1, 1],
};

/** What a value of a kind looks like, and whether a text is one. */
const kinds = {
  text: { expected: 'text', holds: () => true },
  integer: { expected: 'a whole number', holds: (value) => /^-?\d{1,20}$/.test(value) },
  time: {
    expected: 'a date such as 2026-11-21 or 2026-11-21T09:15:00Z',
    holds: (value) => utcTime.safeParse(value).success,
  },
} as const satisfies Readonly<
  Record<Kind, { readonly expected: string; readonly holds: (value: string) => boolean }>
>;

/** One of the names, and the one that was probably meant. */
function oneOf(what: string, names: readonly string[], input: unknown): string {
  const written = String(input);
  const same = names.find((name) => name.toLowerCase() === written.toLowerCase());
  const nearest = same ?? nearestName(written, names);
  return `${what} (${names.join(', ')})${nearest === undefined ? '' : `, such as ${nearest}`}`;
}

const named = (what: string, names: readonly string[]) =>
  z.refine<string>((text) => names.includes(text), { error: ({ input }) => oneOf(what, names, input) });

/** Says what is wrong with the values of a filter whose field and operator are known. */
function checkValues({ value: where, issues }: z.core.ParsePayload<Checked>): void {
  const bounds = Object.hasOwn(OPERATORS, where.operator) ? OPERATORS[where.operator] : undefined;
  const kind = Object.hasOwn(FIELDS, where.field) ? FIELDS[where.field] : undefined;
  if (bounds === undefined || kind === undefined) return;
  const fault = (message: string, path: (string | number)[]) =>
    issues.push({ code: 'custom', input: where, message, path });
  const [least, most] = bounds;
  if (where.value.length < least || where.value.length > most) {
    const count = most === 0 ? 'no value' : most === 1 ? 'one value' : 'at least one value';
    fault(`${count} of ${where.operator}`, ['value']);
  }
  // Part of a value may be looked for.
  if (where.operator === 'LIKE') return;
  for (const [at, value] of where.value.entries())
    if (!kinds[kind].holds(value)) fault(`${kinds[kind].expected}, which ${where.field} is`, ['value', at]);
}

type Checked = { readonly field: string; readonly operator: string; readonly value: readonly string[] };

/** A filter of a file search, of a field, an operator and values that the platform takes. */
export const whereSchema = z
  .strictObject(
    {
      field: filledText.check(named('a field of a file', Object.keys(FIELDS))),
      operator: z.pipe(
        filledText,
        z.pipe(
          z.transform((text: string) => text.toUpperCase()),
          z.string().check(named('an operator', Object.keys(OPERATORS))),
        ),
      ),
      value: z.array(z.string({ error: 'text' }), { error: 'a list of texts' }),
      not: z.optional(yesOrNo),
    },
    { error: 'an object of field, operator and value' },
  )
  .check((payload) => checkValues(payload));

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
