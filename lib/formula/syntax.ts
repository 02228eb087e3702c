/**
 * A formula as a tree. Every node has the `offset` of its first character in the formula, in UTF-16 code units from 0
 * (parentheses around a node are not part of it). Recursion over a parsed formula cannot overflow the stack, because
 * long chains of operators are flat, and the parser limits how deep everything else is nested.
 */
export type Expression =
  | Column
  | NumberLiteral
  | Text
  | Constant
  | Negation
  | Not
  | Operation
  | InList
  | Like
  | Between
  | Case
  | Interval
  | Call
  | Star
  | Fixed
  | Window
  | Word
  | Phrase;

type Node<Kind extends string> = { readonly kind: Kind; readonly offset: number };

/** A column such as `` `Sales` ``; the name is without its backticks. */
export type Column = Node<'column'> & { readonly name: string };

/** A number without its sign, as it was written, so that no digit is lost: `12345678901234567890.10`. */
type NumberLiteral = Node<'number'> & { readonly source: string };

/** A text such as `'it''s'`; the value is without its quotes and escapes. */
type Text = Node<'text'> & { readonly value: string };

/** NULL, TRUE or FALSE. */
export type Constant = Node<'constant'> & { readonly value: 'NULL' | 'TRUE' | 'FALSE' };

/** A negation: `-a`. */
type Negation = Node<'negation'> & { readonly operand: Expression };

/** `NOT a` or `!a`. */
type Not = Node<'not'> & { readonly operand: Expression };

/** Operators of the same precedence, applied from left to right: `a - b + c`. Created by `operation`. */
export type Operation = Node<'operation'> & {
  readonly first: Expression;
  /** The further operands, at least one. `IS` and `IS NOT` have a constant as their operand. */
  readonly rest: readonly Step[];
};

/** One operator of an operation, and the operand to its right. */
export type Step = { readonly operator: Operator; readonly operand: Expression };

/** The operators that are written between operands. */
export type Operator =
  | 'OR'
  | 'XOR'
  | 'AND'
  | ('=' | '<=>' | '<>' | '<' | '<=' | '>' | '>=' | 'IS' | 'IS NOT')
  | ('+' | '-')
  | ('*' | '/' | '%' | 'DIV');

/** `a [NOT] IN (b, c)`; the list has at least one value. */
type InList = Node<'in'> & {
  readonly operand: Expression;
  readonly list: readonly Expression[];
  readonly negated: boolean;
};

/** `a [NOT] LIKE 'b%'`; the pattern is a phrase if it has an ESCAPE. */
export type Like = Node<'like'> & {
  readonly word: 'LIKE' | 'ILIKE' | 'REGEXP';
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly negated: boolean;
};

/** `a [NOT] BETWEEN b AND c` */
type Between = Node<'between'> & {
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly negated: boolean;
};

/** `CASE [subject] WHEN … THEN … [ELSE …] END`, with at least one branch. Without a subject it is a searched CASE. */
export type Case = Node<'case'> & {
  readonly subject: Expression | undefined;
  readonly branches: readonly Branch[];
  readonly otherwise: Expression | undefined;
};

/** `WHEN … THEN …` of a CASE. */
export type Branch = { readonly when: Expression; readonly result: Expression };

/** An interval such as `INTERVAL 3 DAY`; the unit is in upper case. */
export type Interval = Node<'interval'> & { readonly amount: Expression; readonly unit: string };

/** A call such as `COUNT(DISTINCT a)`; the function's name is in upper case. */
export type Call = Node<'call'> & {
  readonly name: string;
  readonly distinct: boolean;
  readonly args: readonly Expression[];
};

/** The `*` of `COUNT(*)`. */
type Star = Node<'star'>;

/**
 * An aggregate with its own grain: `SUM(a) FIXED (BY b, c FILTER DENY d)`. `columns` is empty without a
 * grain, which gives the total. `filtered` is empty for `FILTER NONE`.
 */
export type Fixed = Node<'fixed'> & {
  readonly call: Call;
  readonly grain: 'TOTAL' | 'BY' | 'ADD' | 'REMOVE';
  readonly columns: readonly Expression[];
  readonly filter?: 'NONE' | 'ALLOW' | 'DENY';
  readonly filtered?: readonly Expression[];
};

/** An OVER clause: `RANK() OVER (PARTITION BY a ORDER BY b DESC ROWS 3 PRECEDING)`. A descending key is a phrase. */
export type Window = Node<'window'> & {
  readonly call: Call;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly Expression[];
  readonly frame?: Phrase;
};

/**
 * Words between values: keywords, or the name of a type or of a part of a date, such as `AS`, `DECIMAL(10, 2)`, `YEAR`.
 */
export type Word = Node<'word'> & { readonly text: string };

/**
 * Values and the words between them, for functions and clauses that allow words: `a AS CHAR`, `BOTH 'x' FROM
 * a`, `a DESC`.
 */
export type Phrase = Node<'phrase'> & {
  readonly parts: readonly Expression[];
  /** Whether commas separate the parts. */
  readonly isList: boolean;
};

/** How tightly operators bind; a higher number binds more tightly. The order is MySQL's. */
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

/** The operator that a word or sign stands for, in upper case; undefined if it is not an operator. */
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
 * Creates an operation of `first` and the operators to its right, all of one precedence; if there are no operators,
 * returns only `first`. If `first` is itself an operation of that precedence, the two are merged, so that `(a + b) + c`
 * and `a + b + c` give the same tree.
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
