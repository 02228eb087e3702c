import { Lexer } from 'chevrotain';
import { check } from './check.ts';
import { type FormulaFault, faultAt } from './fault.ts';
import { FormulaParser } from './grammar.ts';
import { type Objection, objectionsToMarks, objectionToSyntax } from './objection.ts';
import type { Expression } from './syntax.ts';
import { vocabulary } from './tokens.ts';

/** A formula as a tree, or what is wrong with it: at least one fault, and at most 20. */
export type ParsedFormula =
  | { readonly kind: 'parsed'; readonly formula: Expression }
  | { readonly kind: 'failed'; readonly faults: readonly FormulaFault[] };

/** How many faults are reported for one formula: more would help nobody. */
const MAX_FAULTS = 20;

/** How long a formula may be, in UTF-16 code units. At about ten times as many, the lexer's patterns give up. */
export const MAX_LENGTH = 1_000_000;

// Created when first needed, then reused: analysing the grammar takes about 50 ms.
let lexer: Lexer | undefined;
let parser: FormulaParser | undefined;

/**
 * Parses a formula. Never throws, whatever the text. The faults are all of one kind, in the order of the text:
 * characters that are unknown or quotes that are not closed; otherwise the first place that breaks the grammar;
 * otherwise misused functions and clauses.
 */
export function parseFormula(text: string): ParsedFormula {
  if (text.length > MAX_LENGTH) {
    return failed(text, [{ offset: MAX_LENGTH, message: `Expected at most ${MAX_LENGTH} characters.` }]);
  }
  lexer ??= new Lexer(vocabulary, { positionTracking: 'onlyOffset' });
  const marks = lexer.tokenize(text);
  const unread = objectionsToMarks(marks, text);
  if (unread.length > 0) return failed(text, unread);

  parser ??= new FormulaParser();
  parser.input = marks.tokens;
  const formula = parser.formula();
  const [error] = parser.errors;
  if (error !== undefined) return failed(text, [objectionToSyntax(error, marks.tokens, text)]);

  const misused = [...check(formula).take(MAX_FAULTS)];
  return misused.length > 0 ? failed(text, misused) : { kind: 'parsed', formula };
}

function failed(text: string, objections: readonly Objection[]): ParsedFormula {
  const faults = objections.slice(0, MAX_FAULTS).map(({ offset, message }) => faultAt(text, offset, message));
  return { kind: 'failed', faults };
}
