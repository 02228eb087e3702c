import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { analyzeFormula, checkSum, parseFormula } from '../../../../lib/formula/analyze.ts';
import { printFormula } from '../../../../lib/formula/print.ts';
import type { Expression } from '../../../../lib/formula/syntax.ts';
import { type FormulaFault, positionOf } from '../../../../lib/formula/tokens.ts';
import { expression } from '../../../formula/arbitrary-expression.ts';
import { withoutOffsets } from '../../../formula/formulas.ts';
import { defineTarget, must } from '../target.ts';

/* Formulas: any text is parsed and analysed, or rejected with faults at offsets inside it, in time linear in its length. */

const TOKENS = [
  ...`( ) , \` \`\` \`a\` ' '' \\ -- /* */ * - 1e9 1 .5 = <=> ! || 😀 SUM( RANK() X_BEAST_MODE(1) SQRT(1) [b] [ ] "t" " # ; name t. x. CAST(1 AS __proto__(`.split(
    ' ',
  ),
  ...' THEN | END| IN (| IS NOT NULL| BETWEEN | AND | LIKE | OVER (| FIXED (BY `a`)| DESC|CASE WHEN |NOT '.split(
    '|',
  ),
  ...'DISTINCT |INTERVAL 1 DAY|CURRENT_DATE|PARTITION BY |ORDER BY | FROM | MOD | ESCAPE | NULLS LAST| FILTER NONE|ROWS 1 PRECEDING'.split(
    '|',
  ),
  ...['\r\n', '\u2028', ' ', '\0', '\ud800'],
];

/** With `repeat` above 1, the time for `text` repeated that often is compared with the time for a quarter of it. */
const input = z.object({ text: z.string(), repeat: z.number() });

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...TOKENS), { maxLength: 30 }).map((all) => all.join('')),
);

/** Text with more parentheses than it needs. */
const nested = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true, maxDepth: 4 },
    fc.constantFrom('`a`', '1', "'t'", 'NULL'),
    fc
      .tuple(tie('any'), fc.constantFrom('-', '+', '*', '/', '=', '<', 'AND', 'OR', 'LIKE'), tie('any'))
      .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
    fc.tuple(fc.constantFrom('NOT', '-', '!'), tie('any')).map(([sign, operand]) => `${sign} (${operand})`),
    fc.tuple(tie('any'), tie('any')).map(([operand, item]) => `(${operand}) IN ((${item}))`),
  ),
})).any;

export const formulas = defineTarget({
  name: 'formulas',
  schema: input,
  tokens: TOKENS,
  inputs: fc.oneof(
    { weight: 6, arbitrary: expression.map((tree) => ({ text: printFormula(tree), repeat: 1 })) },
    { weight: 3, arbitrary: nested.map((text) => ({ text, repeat: 1 })) },
    { weight: 4, arbitrary: anything.map((text) => ({ text, repeat: 1 })) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 4 })
        .map((all) => ({ text: all.join(''), repeat: 2 })),
    },
  ),
  check({ text, repeat }) {
    if (repeat > 1) return checkTime(text);
    const parsed = parseFormula(text);
    const analysis = analyzeFormula(text);
    must(/^[0-9a-f]{40}$/.test(checkSum(text)), 'a checksum has 40 hex digits', () => checkSum(text));
    must((parsed.kind === 'parsed') === (analysis.status === 'VALID'), 'parse and analyze agree', () => text);
    if (parsed.kind === 'failed') return checkFaults(text, parsed.faults);
    checkOffsets(text, parsed.formula);
    for (const { columnName, columnPosition } of analysis.columnPositions) {
      must(
        text.startsWith(columnName, columnPosition),
        'a column is where it is said to be',
        () => columnName,
      );
    }
    const printed = printFormula(parsed.formula);
    const again = parseFormula(printed);
    must(again.kind === 'parsed', 'what is printed parses', () => printed);
    must(
      isDeepStrictEqual(withoutOffsets(again.formula), withoutOffsets(parsed.formula)),
      'what is printed parses to the same',
      () => printed,
    );
    must(printFormula(again.formula) === printed, 'printing is stable', () => printed);
    return `parsed: ${parsed.formula.kind}, ${analysis.status === 'VALID' ? analysis.dataType : ''}`;
  },
});

/** Checks that the faults of a text are short and at offsets inside it. Returns the first fault without what it quotes. */
function checkFaults(text: string, faults: readonly FormulaFault[]): string {
  must(faults.length >= 1 && faults.length <= 20, 'a refusal has 1 to 20 faults', () =>
    String(faults.length),
  );
  for (const { offset, line, column, message } of faults) {
    must(offset >= 0 && offset <= text.length, 'a fault is within the text', () => `${offset}`);
    const at = positionOf(text, offset);
    must(
      at.line === line && at.column === column,
      'line and column are the offset',
      () => `${line}:${column}`,
    );
    must(
      message.length <= 500 && (message.isWellFormed() || !text.isWellFormed()),
      'a fault can be shown',
      () => message,
    );
  }
  return `refused: ${faults[0]?.message.replaceAll(/".*?"|\d+|Unexpected \S+/gs, '…').slice(0, 60)}`;
}

/** Checks that each node begins within the text, and a call where its name is. */
function checkOffsets(text: string, formula: Expression): void {
  JSON.stringify(formula, (key, value: unknown) => {
    if (key === 'offset')
      must(Number(value) >= 0 && Number(value) < text.length, 'nodes are within the text', () =>
        String(value),
      );
    return value;
  });
  must(formula.offset >= 0, 'nodes are within the text', () => String(formula.offset));
}

/** Maximum growth of the time for four times the text. Caches make it a little more than 4; quadratic would be 16. */
const MAX_GROWTH = 10;
/** A shorter time cannot be measured reliably. */
const MIN_MS = 60;

/** Maximum length of a repeated text. Longer ones would show more but take longer. */
const MAX_CHARACTERS = 16_000;

function checkTime(piece: string): string {
  const repeat = Math.floor(MAX_CHARACTERS / 4 / Math.max(1, piece.length));
  let growth = Number.POSITIVE_INFINITY;
  for (let tries = 3; tries > 0 && growth > MAX_GROWTH; tries -= 1) growth = growthOf(piece, repeat);
  must(
    growth <= MAX_GROWTH,
    'time grows with the length',
    () => `${growth.toFixed(1)} times for 4 times the text`,
  );
  // The same text yields the same result, so that a seed tries the same inputs.
  return 'time';
}

/** The time for four times the text, divided by the time for the text; 0 if it is too short to measure. */
function growthOf(piece: string, repeat: number): number {
  const longMs = cpuMsOf(piece.repeat(4 * repeat));
  return longMs < MIN_MS ? 0 : longMs / Math.max(cpuMsOf(piece.repeat(repeat)), MIN_MS / 20);
}

function cpuMsOf(text: string): number {
  const before = process.threadCpuUsage();
  analyzeFormula(text);
  return process.threadCpuUsage(before).user / 1_000;
}
