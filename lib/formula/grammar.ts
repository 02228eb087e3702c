import { BoundedParser, type Rule } from './bounded-parser.ts';
import { columnOf, grainOf, numberOf, operatorOf, textOf } from './leaves.ts';
import { operation } from './precedence.ts';
import type * as syntax from './syntax.ts';
import type { Expression, Step } from './syntax.ts';
import * as token from './tokens.ts';

/** What a fault says was expected where a value is missing. */
const A_VALUE = 'a value';

/** IN, LIKE or BETWEEN with what is to its right. */
type Test =
  | Omit<syntax.InList, 'operand' | 'offset'>
  | Omit<syntax.Like, 'operand' | 'offset'>
  | Omit<syntax.Between, 'operand' | 'offset'>;

/**
 * The grammar: one rule for each precedence, loosest first, followed by the values. Set `input` to the tokens, call
 * `formula`, and check `errors` before using the result. Creating a parser analyses the grammar, which takes some
 * milliseconds: reuse it.
 */
export class FormulaParser extends BoundedParser {
  constructor() {
    super(token.vocabulary);
    this.performSelfAnalysis();
  }

  readonly formula: Rule<Expression> = this.rule('formula', () => this.SUBRULE(this.expression));

  private readonly expression: Rule<Expression> = this.rule('expression', () =>
    this.nested(() => this.SUBRULE(this.disjunction)),
  );

  // Operators, from the loosest to the tightest.

  private readonly disjunction = this.leftToRight('disjunction', token.Or, () => this.conjunction);

  private readonly conjunction = this.leftToRight('conjunction', token.And, () => this.inversion);

  private readonly inversion: Rule<Expression> = this.rule('inversion', () =>
    this.either(A_VALUE, [
      () => {
        const offset = this.CONSUME(token.Not).startOffset;
        return { kind: 'not', operand: this.nested(() => this.SUBRULE(this.inversion)), offset };
      },
      () => this.SUBRULE(this.comparison),
    ]),
  );

  private readonly comparison: Rule<Expression> = this.rule('comparison', () => {
    const first = this.SUBRULE(this.predicate);
    const rest: Step[] = [];
    this.MANY(() => {
      rest.push(this.either('a comparison', [() => this.SUBRULE(this.compare), () => this.SUBRULE(this.is)]));
    });
    return operation(first, rest);
  });

  private readonly compare: Rule<Step> = this.rule('compare', () => {
    const operator = operatorOf(this.CONSUME(token.Comparison));
    return { operator, operand: this.SUBRULE(this.predicate) };
  });

  private readonly is: Rule<Step> = this.rule('is', () => {
    this.CONSUME(token.Is);
    const negated = this.OPTION(() => this.CONSUME(token.Not)) !== undefined;
    return { operator: negated ? 'IS NOT' : 'IS', operand: this.SUBRULE(this.constant) };
  });

  private readonly predicate: Rule<Expression> = this.rule('predicate', () => {
    const operand = this.SUBRULE(this.sum);
    const test = this.OPTION(() => this.SUBRULE(this.test));
    return test === undefined ? operand : { ...test, operand, offset: operand.offset };
  });

  private readonly test: Rule<Test> = this.rule('test', () => {
    const negated = this.OPTION(() => this.CONSUME(token.Not)) !== undefined;
    return this.either<Test>('IN, LIKE or BETWEEN', [
      () => {
        this.CONSUME(token.In);
        return { kind: 'in', list: this.SUBRULE(this.inList), negated };
      },
      () => {
        this.CONSUME(token.Like);
        return { kind: 'like', pattern: this.SUBRULE(this.sum), negated };
      },
      () => {
        this.CONSUME(token.Between);
        const low = this.SUBRULE2(this.sum);
        this.CONSUME(token.And);
        return { kind: 'between', low, high: this.SUBRULE3(this.sum), negated };
      },
    ]);
  });

  private readonly inList: Rule<Expression[]> = this.rule('inList', () => {
    this.CONSUME(token.LeftParenthesis);
    const list = this.SUBRULE(this.expressions);
    this.CONSUME(token.RightParenthesis);
    return list;
  });

  private readonly sum = this.leftToRight('sum', token.SumOperator, () => this.product);

  private readonly product = this.leftToRight('product', token.ProductOperator, () => this.signed);

  private readonly signed: Rule<Expression> = this.rule('signed', () =>
    this.either<Expression>(A_VALUE, [
      () => {
        const offset = this.CONSUME(token.Minus).startOffset;
        return { kind: 'negation', operand: this.nested(() => this.SUBRULE(this.signed)), offset };
      },
      () => {
        const offset = this.CONSUME(token.Exclamation).startOffset;
        return { kind: 'not', operand: this.nested(() => this.SUBRULE2(this.signed)), offset };
      },
      () => this.SUBRULE(this.value),
    ]),
  );

  // Values.

  private readonly value: Rule<Expression> = this.rule('value', () =>
    this.either<Expression>(A_VALUE, [
      () => this.SUBRULE(this.column),
      () => numberOf(this.CONSUME(token.NumberLiteral)),
      () => textOf(this.CONSUME(token.Text)),
      () => this.SUBRULE(this.constant),
      () => this.SUBRULE(this.case),
      () => this.SUBRULE(this.interval),
      () => this.SUBRULE(this.bareCall),
      () => this.SUBRULE(this.aggregation),
      () => this.SUBRULE(this.parenthesized),
    ]),
  );

  private readonly column: Rule<syntax.Column> = this.rule('column', () =>
    columnOf(this.CONSUME(token.Column)),
  );

  private readonly constant: Rule<syntax.Constant> = this.rule('constant', () =>
    this.either<syntax.Constant>('NULL, TRUE or FALSE', [
      () => ({ kind: 'constant', value: 'NULL', offset: this.CONSUME(token.Null).startOffset }),
      () => ({ kind: 'constant', value: 'TRUE', offset: this.CONSUME(token.True).startOffset }),
      () => ({ kind: 'constant', value: 'FALSE', offset: this.CONSUME(token.False).startOffset }),
    ]),
  );

  private readonly parenthesized: Rule<Expression> = this.rule('parenthesized', () => {
    this.CONSUME(token.LeftParenthesis);
    const inner = this.SUBRULE(this.expression);
    this.CONSUME(token.RightParenthesis);
    return inner;
  });

  private readonly case: Rule<syntax.Case> = this.rule('case', () => {
    const offset = this.CONSUME(token.Case).startOffset;
    const subject = this.OPTION(() => this.SUBRULE(this.expression));
    const branches: syntax.Branch[] = [];
    this.AT_LEAST_ONE({ DEF: () => branches.push(this.SUBRULE(this.branch)), ERR_MSG: 'WHEN' });
    const otherwise = this.OPTION2(() => {
      this.CONSUME(token.Else);
      return this.SUBRULE2(this.expression);
    });
    this.CONSUME(token.End);
    return { kind: 'case', subject, branches, otherwise, offset };
  });

  private readonly branch: Rule<syntax.Branch> = this.rule('branch', () => {
    this.CONSUME(token.When);
    const when = this.SUBRULE(this.expression);
    this.CONSUME(token.Then);
    return { when, result: this.SUBRULE2(this.expression) };
  });

  private readonly interval: Rule<syntax.Interval> = this.rule('interval', () => {
    const offset = this.CONSUME(token.Interval).startOffset;
    const amount = this.SUBRULE(this.sum);
    const unit = this.CONSUME(token.Name).image.toUpperCase();
    return { kind: 'interval', amount, unit, offset };
  });

  // Functions, and the clauses that may follow them.

  private readonly aggregation: Rule<Expression> = this.rule('aggregation', () => {
    const call = this.SUBRULE(this.call);
    const { offset } = call;
    const framed = this.OPTION(() =>
      this.either<Expression>('FIXED or OVER', [
        () => ({ kind: 'fixed', call, ...this.SUBRULE(this.grain), offset }),
        () => ({ kind: 'window', call, ...this.SUBRULE(this.window), offset }),
      ]),
    );
    return framed ?? call;
  });

  private readonly call: Rule<syntax.Call> = this.rule('call', () => {
    const head = this.SUBRULE(this.callHead);
    const distinct = this.OPTION(() => this.CONSUME(token.Distinct)) !== undefined;
    const args = this.OPTION2(() => this.SUBRULE(this.args));
    this.CONSUME(token.RightParenthesis);
    return { kind: 'call', ...head, distinct, args: args ?? [] };
  });

  private readonly callHead: Rule<Pick<syntax.Call, 'name' | 'offset'>> = this.rule('callHead', () => {
    const { image, startOffset } = this.CONSUME(token.Name);
    this.CONSUME(token.LeftParenthesis);
    return { name: image.toUpperCase(), offset: startOffset };
  });

  private readonly bareCall: Rule<syntax.Call> = this.rule('bareCall', () => {
    const { image, startOffset } = this.CONSUME(token.BareFunction);
    const args = this.OPTION(() => {
      this.CONSUME(token.LeftParenthesis);
      const inner = this.OPTION2(() => this.SUBRULE(this.args));
      this.CONSUME(token.RightParenthesis);
      return inner;
    });
    return {
      kind: 'call',
      name: image.toUpperCase(),
      distinct: false,
      args: args ?? [],
      offset: startOffset,
    };
  });

  private readonly args: Rule<Expression[]> = this.rule('args', () =>
    this.either<Expression[]>(A_VALUE, [
      () => [{ kind: 'star', offset: this.CONSUME(token.Star).startOffset }],
      () => this.SUBRULE(this.expressions),
    ]),
  );

  private readonly grain: Rule<Pick<syntax.Fixed, 'grain' | 'columns'>> = this.rule('grain', () => {
    this.CONSUME(token.Fixed);
    this.CONSUME(token.LeftParenthesis);
    const columns: syntax.Column[] = [];
    const grain = this.OPTION(() => {
      const word = grainOf(this.CONSUME(token.Grain));
      this.AT_LEAST_ONE_SEP({
        SEP: token.Comma,
        DEF: () => columns.push(this.SUBRULE(this.column)),
        ERR_MSG: 'a column in backticks',
      });
      return word;
    });
    this.CONSUME(token.RightParenthesis);
    return { grain: grain ?? 'TOTAL', columns };
  });

  private readonly window: Rule<Pick<syntax.Window, 'partitionBy' | 'orderBy'>> = this.rule('window', () => {
    this.CONSUME(token.Over);
    this.CONSUME(token.LeftParenthesis);
    const partitionBy = this.OPTION(() => {
      this.CONSUME(token.Partition);
      this.CONSUME(token.By);
      return this.SUBRULE(this.expressions);
    });
    const orderBy = this.OPTION2(() => this.SUBRULE(this.sortKeys));
    this.CONSUME(token.RightParenthesis);
    return { partitionBy: partitionBy ?? [], orderBy: orderBy ?? [] };
  });

  private readonly sortKeys: Rule<syntax.SortKey[]> = this.rule('sortKeys', () => {
    this.CONSUME(token.Order);
    this.CONSUME(token.By);
    const keys: syntax.SortKey[] = [];
    this.AT_LEAST_ONE_SEP({
      SEP: token.Comma,
      DEF: () => keys.push(this.SUBRULE(this.sortKey)),
      ERR_MSG: A_VALUE,
    });
    return keys;
  });

  private readonly sortKey: Rule<syntax.SortKey> = this.rule('sortKey', () => {
    const key = this.SUBRULE(this.expression);
    const direction = this.OPTION(() => this.CONSUME(token.Direction));
    return { key, descending: direction?.tokenType === token.Descending };
  });

  private readonly expressions: Rule<Expression[]> = this.rule('expressions', () => {
    const list: Expression[] = [];
    this.AT_LEAST_ONE_SEP({
      SEP: token.Comma,
      DEF: () => list.push(this.SUBRULE(this.expression)),
      ERR_MSG: A_VALUE,
    });
    return list;
  });
}
