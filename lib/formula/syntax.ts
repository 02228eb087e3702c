/**
 * A formula as a tree. Every node has the `offset` of its first character in the formula, in UTF-16 code units from 0
 * (parentheses around a node are not part of it). No formula that parses is deep enough for recursion over it to
 * overflow the stack: long chains of operators are flat, and the parser bounds how deep the rest is nested.
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
  | Window;

type Node<Kind extends string> = { readonly kind: Kind; readonly offset: number };

/** `` `Sales` ``: the name without its backticks. */
export type Column = Node<'column'> & { readonly name: string };

/** A number without its sign, as written, so that no digit is lost: `12345678901234567890.10`. */
export type NumberLiteral = Node<'number'> & { readonly source: string };

/** `'it''s'`: the text itself, without its quotes and escapes. */
export type Text = Node<'text'> & { readonly value: string };

export type Constant = Node<'constant'> & { readonly value: 'NULL' | 'TRUE' | 'FALSE' };

/** `-a` */
type Negation = Node<'negation'> & { readonly operand: Expression };

/** `NOT a`, `!a` */
type Not = Node<'not'> & { readonly operand: Expression };

/** Operators that bind equally tightly, applied from left to right: `a - b + c`. Created by `operation`. */
export type Operation = Node<'operation'> & {
  readonly first: Expression;
  /** At least one. `IS` and `IS NOT` have a constant as their operand. */
  readonly rest: readonly Step[];
};

/** One operator of an operation, and the operand to its right. */
export type Step = { readonly operator: Operator; readonly operand: Expression };

export type Operator =
  | 'OR'
  | 'AND'
  | ('=' | '<=>' | '<>' | '<' | '<=' | '>' | '>=' | 'IS' | 'IS NOT')
  | ('+' | '-')
  | ('*' | '/' | '%');

/** `a [NOT] IN (b, c)`; the list has at least one value. */
export type InList = Node<'in'> & {
  readonly operand: Expression;
  readonly list: readonly Expression[];
  readonly negated: boolean;
};

/** `a [NOT] LIKE 'b%'` */
export type Like = Node<'like'> & {
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly negated: boolean;
};

/** `a [NOT] BETWEEN b AND c` */
export type Between = Node<'between'> & {
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly negated: boolean;
};

/** `CASE [subject] WHEN … THEN … [ELSE …] END`; a searched CASE if there is no subject. At least one branch. */
export type Case = Node<'case'> & {
  readonly subject: Expression | undefined;
  readonly branches: readonly Branch[];
  readonly otherwise: Expression | undefined;
};

export type Branch = { readonly when: Expression; readonly result: Expression };

/** `INTERVAL 3 DAY`; the unit is in upper case. */
export type Interval = Node<'interval'> & { readonly amount: Expression; readonly unit: string };

/** `COUNT(DISTINCT a)`; the function's name is in upper case. */
export type Call = Node<'call'> & {
  readonly name: string;
  readonly distinct: boolean;
  readonly args: readonly Expression[];
};

/** The `*` of `COUNT(*)`. */
type Star = Node<'star'>;

/** `SUM(a) FIXED (BY b, c)`: an aggregate at a grain of its own. `columns` is empty for `FIXED ()`, the total. */
export type Fixed = Node<'fixed'> & {
  readonly call: Call;
  readonly grain: 'TOTAL' | 'BY' | 'ADD' | 'REMOVE';
  readonly columns: readonly Column[];
};

/** `RANK() OVER (PARTITION BY a ORDER BY b DESC)` */
export type Window = Node<'window'> & {
  readonly call: Call;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
};

export type SortKey = { readonly key: Expression; readonly descending: boolean };
