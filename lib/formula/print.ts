import { quoteColumn, quoteText } from './grammar.ts';
import {
  type Call,
  type Case,
  type Expression,
  type Fixed,
  type Operation,
  type Phrase,
  precedence,
  precedenceOf,
  type Window,
} from './syntax.ts';

/**
 * Prints a formula in canonical form on one line: keywords and function names in upper case, no comments, and only the
 * necessary parentheses. Parsing the result gives the same tree, apart from the offsets.
 */
export function printFormula(expression: Expression): string {
  switch (expression.kind) {
    case 'column':
      return quoteColumn(expression.name);
    case 'number':
      return expression.source;
    case 'text':
      return quoteText(expression.value);
    case 'constant':
      return expression.value;
    case 'star':
      return '*';
    case 'negation':
      return `-${bound(precedence.value, expression.operand)}`; // The two signs `--` would begin a comment.
    case 'not':
      return `NOT ${bound(precedence.not, expression.operand)}`;
    case 'operation':
      return printOperation(expression);
    case 'in':
      return `${predicate(expression, 'IN')} (${list(expression.list)})`;
    case 'like':
      return `${predicate(expression, expression.word)} ${term(expression.pattern)}`;
    case 'between':
      return `${predicate(expression, 'BETWEEN')} ${term(expression.low)} AND ${term(expression.high)}`;
    case 'case':
      return printCase(expression);
    case 'interval':
      return `INTERVAL ${term(expression.amount)} ${expression.unit}`;
    case 'word':
      return expression.text;
    case 'phrase':
      return printPhrase(expression);
    case 'call':
      return printCall(expression);
    case 'fixed':
      return printFixed(expression);
    case 'window':
      return printWindow(expression);
    default:
      return expression satisfies never;
  }
}

/**
 * Prints a formula in a form that it shares with all formulas that differ only in white space, comments, the case of
 * names, and the order of the operands of AND.
 */
export const canonicalFormula = (expression: Expression): string => printFormula(normalized(expression));

function normalized<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(normalized) as Value;
  const entries = Object.entries(value).map(([name, each]) => [name, normalized(each)]);
  const node = Object.fromEntries(entries) as Expression;
  if (node.kind === 'column') return { ...node, name: node.name.toLowerCase() } as Value;
  if (node.kind !== 'operation' || node.rest.some(({ operator }) => operator !== 'AND')) return node as Value;
  const operands = [node.first, ...node.rest.map(({ operand }) => operand)];
  const [first = node.first, ...rest] = operands.toSorted((a, b) =>
    printFormula(a) < printFormula(b) ? -1 : 1,
  );
  return { ...node, first, rest: rest.map((operand) => ({ operator: 'AND', operand })) } as Value;
}

/** Prints an expression, in parentheses unless it binds at least as tightly as `minPrecedence`. */
function bound(minPrecedence: number, expression: Expression): string {
  const text = printFormula(expression);
  return precedenceOf(expression) < minPrecedence ? `(${text})` : text;
}

/** Prints an operand of IN, LIKE, BETWEEN or INTERVAL, or a value in a phrase. */
const term = (expression: Expression) => bound(precedence.sum, expression);

const list = (expressions: readonly Expression[]) => expressions.map(printFormula).join(', ');

function predicate({ operand, negated }: { operand: Expression; negated: boolean }, name: string): string {
  return `${term(operand)} ${negated ? 'NOT ' : ''}${name}`;
}

function printOperation(operation: Operation): string {
  const ownPrecedence = precedenceOf(operation);
  const tighter = ownPrecedence + 1; // On the right, an operator of the same precedence needs parentheses: a - (b - c).
  const rest = operation.rest.map(({ operator, operand }) => `${operator} ${bound(tighter, operand)}`);
  return [bound(ownPrecedence, operation.first), ...rest].join(' ');
}

function printCase({ subject, branches, otherwise }: Case): string {
  return [
    'CASE',
    ...(subject === undefined ? [] : [printFormula(subject)]),
    ...branches.map(({ when, result }) => `WHEN ${printFormula(when)} THEN ${printFormula(result)}`),
    ...(otherwise === undefined ? [] : [`ELSE ${printFormula(otherwise)}`]),
    'END',
  ].join(' ');
}

function printCall({ name, distinct, args }: Call): string {
  return `${name}(${distinct ? 'DISTINCT ' : ''}${list(args)})`;
}

function printPhrase({ parts, isList }: Phrase): string {
  return isList ? list(parts) : parts.map(term).join(' ');
}

function printFixed({ call, grain, columns, filter, filtered = [] }: Fixed): string {
  const clauses = [
    ...(grain === 'TOTAL' ? [] : [`${grain} ${list(columns)}`]),
    ...(filter === undefined ? [] : [`FILTER ${filter}${filtered.length === 0 ? '' : ` ${list(filtered)}`}`]),
  ];
  return `${printCall(call)} FIXED (${clauses.join(' ')})`;
}

function printWindow({ call, partitionBy, orderBy, frame }: Window): string {
  const clauses = [
    ...(partitionBy.length === 0 ? [] : [`PARTITION BY ${list(partitionBy)}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${list(orderBy)}`]),
    ...(frame === undefined ? [] : [printPhrase(frame)]),
  ];
  return `${printCall(call)} OVER (${clauses.join(' ')})`;
}
