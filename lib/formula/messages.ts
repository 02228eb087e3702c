import { EOF, type IParserErrorMessageProvider, type IToken } from 'chevrotain';
import { catalog } from './catalog.ts';
import { shown } from './fault.ts';
import { LeftParenthesis, RightParenthesis } from './tokens.ts';

/** What the parser says where a formula breaks the grammar: what was expected, and what was found. */
export const messages: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected, actual, previous, ruleName }) => {
    if (ruleName === 'callHead') return strayName(previous.image);
    if (ruleName === 'interval') return expectedBut('a unit such as DAY', actual);
    const mayHoldValue = ruleName === 'call' && previous.tokenType === LeftParenthesis;
    return expectedBut(`${mayHoldValue ? 'a value or ' : ''}${expected.LABEL ?? expected.name}`, actual);
  },
  buildNotAllInputParsedMessage: ({ firstRedundant }) =>
    firstRedundant.tokenType === RightParenthesis
      ? 'This ")" has no matching "(".'
      : expectedBut('an operator or the end of the formula', firstRedundant),
  buildNoViableAltMessage: ({ customUserDescription = 'something else', actual: [actual] }) =>
    expectedBut(customUserDescription, actual),
  buildEarlyExitMessage: ({ customUserDescription = 'something else', actual: [actual] }) =>
    expectedBut(customUserDescription, actual),
};

function expectedBut(expected: string, actual: IToken | undefined): string {
  const isEnd = actual === undefined || actual.tokenType === EOF;
  return `Expected ${expected}, but ${isEnd ? 'the formula ends here' : `got ${shown(actual.image)}`}.`;
}

/** A name that is not followed by a parenthesis. */
function strayName(name: string): string {
  return catalog.has(name.toUpperCase())
    ? `Expected "(" after the function ${name.toUpperCase()}.`
    : `${shown(name)} is neither a column nor a function: write columns in backticks, text in single quotes.`;
}
