import { parseFormula } from '../../lib/formula/analyze.ts';
import type { Expression } from '../../lib/formula/syntax.ts';

/** Parses a valid formula. Throws if it is invalid. */
export function parsed(text: string): Expression {
  const result = parseFormula(text);
  if (result.kind === 'failed') throw new Error(`${text}: ${result.faults[0]?.message}`);
  return result.formula;
}

/** The messages of a formula's faults; [] if it parses. */
export function complaints(text: string): readonly string[] {
  const result = parseFormula(text);
  return result.kind === 'failed' ? result.faults.map(({ message }) => message) : [];
}

export function withoutOffsets(expression: Expression): unknown {
  return JSON.parse(JSON.stringify(expression, (key, value) => (key === 'offset' ? undefined : value)));
}
