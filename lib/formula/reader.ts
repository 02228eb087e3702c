import { type Objection, positionOf, shown, type Token } from './tokens.ts';

/**
 * How deep parentheses, CASEs, NOTs and signs may be nested. The grammar recurses, and so does what reads its trees: on
 * Node's default stack (984 KB), in a process that has just started, whose code is not compiled yet, the worst mix of
 * operators and calls takes 200 levels; `ABS(ABS(…` alone takes 700.
 */
const MAX_NESTING = 128;

const TOO_DEEP = `Expected at most ${MAX_NESTING} levels of nested parentheses, CASEs, NOTs and signs.`;

/** The first place that breaks the grammar: thrown to the parser's one caller. */
export class FormulaSyntaxError extends Error {
  override readonly name = 'FormulaSyntaxError';
  readonly objection: Objection;

  constructor(objection: Objection) {
    super(objection.message);
    this.objection = objection;
  }
}

/** A position in the tokens of a formula, for the rules of the grammar. */
export type Reader = ReturnType<typeof createReader>;

export function createReader(tokens: readonly Token[], text: string) {
  const open: Token[] = [];
  const warnings: Objection[] = [];
  let position = 0;
  let nesting = 0;

  /** The token so many places ahead; past the last one, the end token. */
  function peek(ahead = 0): Token {
    const token = tokens[Math.min(position + ahead, tokens.length - 1)];
    if (token === undefined) throw new Error('expected tokens that end, got none');
    return token;
  }

  function next(): Token {
    const token = peek();
    position += 1;
    if (token.word === '(' || token.word === 'CASE') open.push(token);
    if (token.word === ')' || token.word === 'END') open.pop();
    return token;
  }

  /** Consumes the next token if its word is one of these. */
  function take(...words: readonly string[]): Token | undefined {
    return words.includes(peek().word) ? next() : undefined;
  }

  /** If the formula ends too early, also says which parenthesis or CASE is left open. */
  function fail(message: string, { offset, kind }: Token): never {
    const last = kind === 'end' ? open.at(-1) : undefined;
    const hint = last === undefined ? '' : unclosed(last, text);
    throw new FormulaSyntaxError({ offset, message: `${message}${hint}` });
  }

  function failExpecting(expected: string): never {
    const { kind, image } = peek();
    const got = kind === 'end' ? 'the formula ends here' : `got ${shown(image)}`;
    return fail(`Expected ${expected}, but ${got}.`, peek());
  }

  return {
    peek,
    next,
    take,
    fail,
    failExpecting,
    warnings,
    warn: ({ offset }: Token, message: string) => warnings.push({ offset, message }),
    /** Consumes a token whose word is one of these. */
    expect: (expected: string, ...words: readonly string[]): Token =>
      take(...words) ?? failExpecting(expected),
    /** Runs a body that may recurse, one level deeper. */
    nested<Result>(body: () => Result): Result {
      if (nesting === MAX_NESTING) throw new FormulaSyntaxError({ offset: peek().offset, message: TOO_DEEP });
      nesting += 1;
      const result = body();
      nesting -= 1; // a body that throws ends the parsing
      return result;
    },
  };
}

function unclosed({ image, offset }: Token, text: string): string {
  const { line, column } = positionOf(text, offset);
  return ` The ${shown(image)} at line ${line}, column ${column} is not closed.`;
}
