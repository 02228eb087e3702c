import type { Expression, Operator, Step } from './syntax.ts';

/** How tightly operators bind: the higher, the tighter. The same order as in the grammar, and in MySQL. */
export const precedence = {
  or: 1,
  xor: 2,
  and: 3,
  not: 4,
  comparison: 5,
  predicate: 6,
  sum: 7,
  product: 8,
  sign: 9,
  value: 10,
} as const;

type Precedence = (typeof precedence)[keyof typeof precedence];

const byLevel: readonly (readonly [Precedence, readonly Operator[]])[] = [
  [precedence.or, ['OR']],
  [precedence.xor, ['XOR']],
  [precedence.and, ['AND']],
  [precedence.comparison, ['=', '<=>', '<>', '<', '<=', '>', '>=', 'IS', 'IS NOT']],
  [precedence.sum, ['+', '-']],
  [precedence.product, ['*', '/', '%', 'DIV']],
];

/** How tightly each operator binds. */
export const precedences: ReadonlyMap<string, Precedence> = new Map(
  byLevel.flatMap(([level, operators]) => operators.map((operator) => [operator, level])),
);

/** The operator that a word or sign spells, in upper case; undefined if it spells none. */
export const operatorOf = (word: string): Operator | undefined =>
  precedences.has(word) ? (word as Operator) : synonyms.get(word);

const synonyms: ReadonlyMap<string, Operator> = new Map([
  ['||', 'OR'],
  ['&&', 'AND'],
  ['!=', '<>'],
  ['MOD', '%'],
]);

/** How tightly the outermost operator of an expression binds. */
export function precedenceOf(expression: Expression): Precedence {
  switch (expression.kind) {
    case 'operation':
      return precedenceOfSteps(expression.rest);
    case 'not':
      return precedence.not;
    case 'in':
    case 'like':
    case 'between':
      return precedence.predicate;
    case 'negation':
      return precedence.sign;
    default:
      return precedence.value;
  }
}

/**
 * `first` and the operators to its right, all of one precedence; `first` alone if there are none. If `first` is
 * itself an operation of that precedence, the two are merged: `(a + b) + c` and `a + b + c` give the same tree.
 */
export function operation(first: Expression, rest: readonly Step[]): Expression {
  if (rest.length === 0) return first;
  if (first.kind === 'operation' && precedenceOf(first) === precedenceOfSteps(rest)) {
    return { ...first, rest: [...first.rest, ...rest] };
  }
  return { kind: 'operation', first, rest, offset: first.offset };
}

function precedenceOfSteps([step]: readonly Step[]): Precedence {
  return precedences.get(step?.operator ?? '') ?? precedence.value;
}
