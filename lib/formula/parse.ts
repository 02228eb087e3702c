import { Lexer } from 'chevrotain';
import { check } from './check.ts';
import { type FormulaFault, faultAt } from './fault.ts';
import { FormulaParser } from './grammar.ts';
import { type Objection, objectionsToMarks, objectionToSyntax } from './objection.ts';
import type { Expression } from './syntax.ts';
import { vocabulary } from './tokens.ts';

/** A formula as a tree, or what is wrong with it: at least one fault, and at most `maxFaults`. */
export type ParsedFormula =
  | { readonly kind: 'parsed'; readonly formula: Expression }
  | { readonly kind: 'failed'; readonly faults: readonly FormulaFault[] };

/** How many faults are told of one formula: more would help nobody. */
export const maxFaults = 20;

/** How long a formula may be, in UTF-16 code units. Some ten times as much, and the lexer's patterns give up. */
export const maxLength = 1_000_000;

// Made when first needed, and kept: analysing the grammar takes some 50 ms.
let lexer: Lexer | undefined;
let parser: FormulaParser | undefined;

/**
 * Parses a formula. Never throws, whatever the text. Faults are of one sort, in the order of the text: marks that
 * are unknown or not closed; else the first place that leaves the grammar; else functions and clauses misused.
 */
export function parseFormula(text: string): ParsedFormula {
  if (text.length > maxLength) {
    return failed(text, [{ offset: maxLength, message: `Expected at most ${maxLength} characters.` }]);
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

  const misused = [...check(formula).take(maxFaults)];
  return misused.length > 0 ? failed(text, misused) : { kind: 'parsed', formula };
}

function failed(text: string, objections: readonly Objection[]): ParsedFormula {
  const faults = objections.slice(0, maxFaults).map(({ offset, message }) => faultAt(text, offset, message));
  return { kind: 'failed', faults };
}
