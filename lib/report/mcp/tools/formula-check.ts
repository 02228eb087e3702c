import * as z from 'zod/mini';
import { createRoom } from '../pages.ts';
import { defineTool, READS, textInput } from '../tool.ts';

/** Longer than any formula that a person writes. */
const LONGEST_FORMULA = 20_000;

const texts = z.array(z.string());

/** `formula_check`: what the platform would say of a formula. */
export const formulaCheck = defineTool({
  title: 'Check a formula',
  description:
    'Parses a formula here, without the platform: whether it is valid, its data type, the columns, functions and other calculations that it uses, and each fault with its line and column.',
  annotations: READS,
  input: z.strictObject({
    formula: textInput(`a formula of at most ${LONGEST_FORMULA} characters, as text`, LONGEST_FORMULA),
  }),
  output: z.object({
    data: z.object({
      status: z.enum(['VALID', 'INVALID']),
      dataType: z.optional(z.string()),
      aggregated: z.boolean(),
      analytic: z.boolean(),
      checkSum: z.string(),
      faults: z.array(
        z.object({ message: z.string(), line: z.number(), column: z.number(), offset: z.number() }),
      ),
      functions: texts,
      references: z.array(z.object({ kind: z.string(), id: z.string() })),
      columns: texts,
      nonAggregatedColumns: texts,
      columnPositions: z.array(z.object({ columnName: z.string(), columnPosition: z.number() })),
    }),
    isCut: z.boolean(),
  }),
  async run({ formula }) {
    // The parser is large: the other tools start without it.
    const { analyzeFormula, checkSum } = await import('../../../formula/index.ts');
    const found = analyzeFormula(formula);
    const { status, aggregated, analytic } = found;
    const head = {
      status,
      ...(found.status === 'VALID' ? { dataType: found.dataType } : {}),
      aggregated,
      analytic,
      checkSum: String(checkSum(formula)),
    };
    const lists = {
      faults: found.status === 'INVALID' ? [...found.faults] : [],
      functions: [...found.functions],
      references: [...found.references],
      columns: [...found.columns],
      nonAggregatedColumns: [...found.nonAggregatedColumns],
      columnPositions: [...found.columnPositions],
    };
    const names = Object.fromEntries(Object.keys(lists).map((name) => [name, []]));
    const { takes } = createRoom({ data: { ...head, ...names }, isCut: false }, Number.POSITIVE_INFINITY);
    const fitting = {
      faults: lists.faults.filter(takes),
      functions: lists.functions.filter(takes),
      references: lists.references.filter(takes),
      columns: lists.columns.filter(takes),
      nonAggregatedColumns: lists.nonAggregatedColumns.filter(takes),
      columnPositions: lists.columnPositions.filter(takes),
    };
    const isCut = lists.columnPositions.length > fitting.columnPositions.length;
    return { data: { ...head, ...fitting }, isCut };
  },
});
