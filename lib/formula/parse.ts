import { check } from './check.ts';
import { type FormulaFault, faultAt, type Objection } from './fault.ts';
import { readFormula } from './grammar.ts';
import { FormulaSyntaxError } from './reader.ts';
import type { Expression } from './syntax.ts';
import { tokensOf } from './tokens.ts';

/**
 * A formula as a tree, with at most 20 warnings of what the platform may refuse; or what is wrong with it: at least one
 * fault, and at most 20.
 */
export type ParsedFormula =
  | { readonly kind: 'parsed'; readonly formula: Expression; readonly warnings: readonly FormulaFault[] }
  | { readonly kind: 'failed'; readonly faults: readonly FormulaFault[] };

/** How many faults are reported for one formula: more would help nobody. */
const MAX_FAULTS = 20;

/** How long a formula may be, in UTF-16 code units. At about ten times as many, the lexer's patterns give up. */
export const MAX_LENGTH = 1_000_000;

/**
 * Parses a formula. Never throws, whatever the text. The faults are all of one kind, in the order of the text:
 * characters that are unknown or quotes that are not closed; otherwise the first place that breaks the grammar;
 * otherwise columns without a name and functions without their arguments.
 */
export function parseFormula(text: string): ParsedFormula {
  const failed = (objections: readonly Objection[]): ParsedFormula => ({
    kind: 'failed',
    faults: placed(text, objections),
  });
  if (text.length > MAX_LENGTH)
    return failed([{ offset: MAX_LENGTH, message: `Expected at most ${MAX_LENGTH} characters.` }]);
  const { tokens, faults, warnings } = tokensOf(text);
  if (faults.length > 0) return failed(faults);
  try {
    const read = readFormula(tokens, text);
    const found = [...check(read.formula)];
    const missing = found.filter(({ isFault }) => isFault);
    if (missing.length > 0) return failed(missing);
    const doubts = placed(text, [...warnings, ...read.warnings, ...found]);
    return { kind: 'parsed', formula: read.formula, warnings: doubts };
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return failed([error.objection]);
    throw error;
  }
}

function placed(text: string, objections: readonly Objection[]): readonly FormulaFault[] {
  return objections
    .toSorted((a, b) => a.offset - b.offset)
    .slice(0, MAX_FAULTS)
    .map(({ offset, message }) => faultAt(text, offset, message));
}
