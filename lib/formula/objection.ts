import {
  EOF,
  type ILexingResult,
  type IRecognitionException,
  type IToken,
  MismatchedTokenException,
  type TokenType,
} from 'chevrotain';
import { positionOf, shortened, shown } from './fault.ts';
import {
  Case,
  End,
  LeftParenthesis,
  RightParenthesis,
  UnclosedColumn,
  UnclosedComment,
  UnclosedText,
} from './tokens.ts';

/** What is wrong with a formula at an offset of its text: a fault before its line and column are known. */
export type Objection = { readonly offset: number; readonly message: string };

/** Characters that are not part of the language, and whatever is not closed; in the order of the text. */
export function objectionsToMarks({ tokens, errors }: ILexingResult, text: string): Objection[] {
  const unknown = errors.map(({ offset, length }) => ({
    offset,
    message: unknownMarks(text.slice(offset, offset + length)),
  }));
  const open = tokens.flatMap(({ tokenType, startOffset: offset }) => {
    const message = unclosed.get(tokenType);
    return message === undefined ? [] : [{ offset, message }];
  });
  return [...unknown, ...open]; // what is not closed extends to the end, so nothing follows it
}

function unknownMarks(marks: string): string {
  return `Unexpected ${shortened(marks)}: write columns in backticks, text in single quotes.`;
}

const unclosed: ReadonlyMap<TokenType, string> = new Map([
  [UnclosedColumn, 'This column is not closed: expected another backtick.'],
  [UnclosedText, "This text is not closed: expected another ' (a ' within the text is written '')."],
  [UnclosedComment, 'This comment is not closed: expected "*/".'],
]);

/** The parser's error. If the formula ends too early, it also names the parenthesis or CASE that was left open. */
export function objectionToSyntax(
  error: IRecognitionException,
  tokens: readonly IToken[],
  text: string,
): Objection {
  const { tokenType, startOffset } = tokenToBlame(error);
  if (tokenType !== EOF) return { offset: startOffset, message: error.message };

  const open = lastOpen(tokens);
  if (open === undefined) return { offset: text.length, message: error.message };
  const { line, column } = positionOf(text, open.startOffset);
  const hint = `The ${shown(open.image)} at line ${line}, column ${column} is not closed.`;
  return { offset: text.length, message: `${error.message} ${hint}` };
}

/** The token that was found; but after a name that is not a function, the name itself. */
function tokenToBlame(error: IRecognitionException): IToken {
  const isStrayName = error.context.ruleStack.at(-1) === 'callHead';
  return isStrayName && error instanceof MismatchedTokenException ? error.previousToken : error.token;
}

function lastOpen(tokens: readonly IToken[]): IToken | undefined {
  const open: IToken[] = [];
  for (const token of tokens) {
    if (token.tokenType === LeftParenthesis || token.tokenType === Case) open.push(token);
    if (token.tokenType === RightParenthesis || token.tokenType === End) open.pop();
  }
  return open.at(-1);
}
