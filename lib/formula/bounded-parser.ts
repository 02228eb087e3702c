import {
  EmbeddedActionsParser,
  MismatchedTokenException,
  type ParserMethod,
  type TokenType,
} from 'chevrotain';
import { operatorOf } from './leaves.ts';
import { messages } from './messages.ts';
import { operation } from './precedence.ts';
import type { Expression, Step } from './syntax.ts';

/**
 * How deep parentheses, CASEs, NOTs and signs may be nested. The parser recurses: on Node's default stack
 * (984 KB), the cheapest way to overflow it, `ABS(ABS(…`, takes 85 levels in a process that has just started, whose code
 * is not compiled yet; later it takes 256.
 */
const MAX_NESTING = 64;

/** A rule of the grammar, and what it builds from the tokens it consumes. */
export type Rule<Result> = ParserMethod<[], Result>;

/** The building blocks of the grammar's rules. Chevrotain requires a class. */
export abstract class BoundedParser extends EmbeddedActionsParser {
  private nesting = 0;

  constructor(vocabulary: TokenType[]) {
    super(vocabulary, { maxLookahead: 2, errorMessageProvider: messages });
  }

  protected rule<Result>(name: string, body: () => Result): Rule<Result> {
    return this.RULE(name, body);
  }

  /** The alternative that matches the next tokens; `expected` is what a fault says was expected. */
  protected either<Result>(expected: string, alternatives: (() => Result)[]): Result {
    return this.OR({ DEF: alternatives.map((ALT) => ({ ALT })), ERR_MSG: expected });
  }

  /** A rule for operators of one precedence, between operands that bind more tightly. */
  protected leftToRight(
    name: string,
    operator: TokenType,
    operand: () => Rule<Expression>,
  ): Rule<Expression> {
    return this.rule(name, () => {
      const first = this.SUBRULE(operand());
      const rest: Step[] = [];
      this.MANY(() => {
        rest.push({ operator: operatorOf(this.CONSUME(operator)), operand: this.SUBRULE2(operand()) });
      });
      return operation(first, rest);
    });
  }

  /** Runs a body that may recurse, one level deeper. */
  protected nested<Result>(body: () => Result): Result {
    if (this.nesting === MAX_NESTING) throw this.nestingError();
    this.nesting += 1;
    try {
      return body();
    } finally {
      this.nesting -= 1;
    }
  }

  private nestingError(): MismatchedTokenException {
    const message = `Expected at most ${MAX_NESTING} levels of nested parentheses, CASEs, NOTs and signs.`;
    const error = new MismatchedTokenException(message, this.LA(1), this.LA(0));
    error.context = { ruleStack: [], ruleOccurrenceStack: [] };
    this.errors = [error];
    return error;
  }
}
