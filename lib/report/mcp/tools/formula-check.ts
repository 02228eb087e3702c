import * as z from 'zod/mini';
import { spelled } from '../../../model/rules/index.ts';
import { defineTool, textInput } from '../tool.ts';

/** Longer than any formula that a person writes. */
const MAX_FORMULA_LENGTH = 20_000;

/** `formula_check`: what the platform would say of a formula. */
export const formulaCheck = defineTool({
  title: 'Check a formula',
  description:
    'Parses a formula here, without the platform: whether it is valid, its data type, the columns, functions and other calculations that it uses, each fault, and each warning of what the platform may refuse, with line and column.',
  input: z.strictObject({
    formula: textInput(`a formula of at most ${MAX_FORMULA_LENGTH} characters, as text`, MAX_FORMULA_LENGTH),
  }),
  async run({ formula }) {
    // The parser is large: the other tools start without it.
    const { analyzeFormula, checkSum } = await import('../../../formula/index.ts');
    const analysis = analyzeFormula(formula);
    const status = spelled(analysis.status);
    return { data: { checkSum: String(checkSum(formula)), faults: [], ...analysis, status } };
  },
});
