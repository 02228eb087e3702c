import * as z from 'zod/mini';
import { createRoom } from '../pages.ts';
import { defineTool, textInput } from '../tool.ts';

/** Longer than any formula that a person writes. */
const LONGEST_FORMULA = 20_000;

const texts = z.array(z.string());
const fault = z.object({ message: z.string(), line: z.number(), column: z.number(), offset: z.number() });

const checked = z.object({
  status: z.enum(['VALID', 'INVALID']),
  dataType: z.optional(z.string()),
  aggregated: z.boolean(),
  analytic: z.boolean(),
  checkSum: z.string(),
  faults: z.array(fault),
  functions: texts,
  references: z.array(z.object({ kind: z.string(), id: z.string() })),
  columns: texts,
  nonAggregatedColumns: texts,
  columnPositions: z.array(z.object({ columnName: z.string(), columnPosition: z.number() })),
});

/** `formula_check`: what the platform would say of a formula. */
export const formulaCheck = defineTool({
  title: 'Check a formula',
  description:
    'Parses a formula here, without the platform: whether it is valid, its data type, the columns, functions and other calculations that it uses, and each fault with its line and column.',
  input: z.strictObject({
    formula: textInput(`a formula of at most ${LONGEST_FORMULA} characters, as text`, LONGEST_FORMULA),
  }),
  output: z.object({ data: checked, isCut: z.boolean() }),
  async run({ formula }) {
    // The parser is large: the other tools start without it.
    const { analyzeFormula, checkSum } = await import('../../../formula/index.ts');
    const found = { faults: [], ...analyzeFormula(formula), checkSum: String(checkSum(formula)) };
    const data = checked.parse(found);
    const lists = Object.values(data).filter((each) => Array.isArray(each)) as unknown[][];
    const items = lists.map((list) => list.splice(0));
    const { takes } = createRoom({ data, isCut: false }, Number.POSITIVE_INFINITY);
    for (const [at, list] of lists.entries()) list.push(...(items[at] ?? []).filter(takes));
    return { data, isCut: lists.some((list, at) => list.length < (items[at] ?? []).length) };
  },
});
