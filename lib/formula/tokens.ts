import { createToken, Lexer, type TokenType } from 'chevrotain';
import { bareFunctions } from './catalog.ts';

/*
 * The words of the language. The lexer takes the first token of `vocabulary` that matches. An unclosed quote or comment
 * is a token too, one that no rule accepts, so that a fault can name it.
 */

const word = (name: string, pattern = new RegExp(`${name}\\b`, 'i'), categories: TokenType[] = []) =>
  createToken({ name, pattern, label: name.toUpperCase(), categories });
const sign = (name: string, pattern: RegExp, label: string, categories: TokenType[] = []) =>
  createToken({ name, pattern, label: `"${label}"`, categories });
const skipped = (name: string, pattern: RegExp) => createToken({ name, pattern, group: Lexer.SKIPPED });

const Space = skipped('Space', /\s+/);
const LineComment = skipped('LineComment', /--[^\r\n]*/);
const BlockComment = skipped('BlockComment', /\/\*[\s\S]*?\*\//);
export const UnclosedComment = createToken({ name: 'UnclosedComment', pattern: /\/\*[\s\S]*/ });

// A closing quote is one that is not doubled: otherwise an unclosed `` `a``b `` would be read as column a.
export const Column = createToken({
  name: 'Column',
  pattern: /`[^`]*(?:``[^`]*)*`(?!`)/,
  label: 'a column in backticks',
});
export const UnclosedColumn = createToken({ name: 'UnclosedColumn', pattern: /`[\s\S]*/ });
export const Text = createToken({
  name: 'Text',
  pattern: /'[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*'(?!')/,
  label: "text in ''",
});
export const UnclosedText = createToken({ name: 'UnclosedText', pattern: /'[\s\S]*/ });
export const NumberLiteral = createToken({
  name: 'NumberLiteral',
  pattern: /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i,
  label: 'a number',
});

export const Or = word('Or', /OR\b|\|\|/i);
export const And = word('And', /AND\b|&&/i);
export const Not = word('Not');
export const Is = word('Is');
export const In = word('In');
export const Like = word('Like');
export const Between = word('Between');
export const Null = word('Null');
export const True = word('True');
export const False = word('False');
export const Case = word('Case');
export const When = word('When');
export const Then = word('Then');
export const Else = word('Else');
export const End = word('End');
export const Interval = word('Interval');
export const Distinct = word('Distinct');
export const Over = word('Over');
export const Partition = word('Partition');
export const Order = word('Order');
export const Grain = createToken({ name: 'Grain', pattern: Lexer.NA, label: 'BY, ADD or REMOVE' });
export const By = word('By', /by\b/i, [Grain]);
export const Direction = createToken({ name: 'Direction', pattern: Lexer.NA, label: 'ASC or DESC' });
const Ascending = word('Ascending', /asc\b/i, [Direction]);
export const Descending = word('Descending', /desc\b/i, [Direction]);
export const Fixed = word('Fixed');
const Add = word('Add', /add\b/i, [Grain]);
const Remove = word('Remove', /remove\b/i, [Grain]);

export const BareFunction = word('BareFunction', new RegExp(`(?:${bareFunctions.join('|')})\\b`, 'i'));
/** A function's name, or an interval's unit. */
export const Name = createToken({ name: 'Name', pattern: /[a-z_]\w*/i, label: 'a name' });

export const Comparison = sign('Comparison', /<=>|<=|>=|<>|!=|=|<|>/, '=');
export const Exclamation = sign('Exclamation', /!/, '!');
export const SumOperator = createToken({ name: 'SumOperator', pattern: Lexer.NA });
export const Minus = sign('Minus', /-/, '-', [SumOperator]);
const Plus = sign('Plus', /\+/, '+', [SumOperator]);
export const ProductOperator = createToken({ name: 'ProductOperator', pattern: Lexer.NA });
export const Star = sign('Star', /\*/, '*', [ProductOperator]);
const Division = sign('Division', /[/%]/, '/', [ProductOperator]);
export const Comma = sign('Comma', /,/, ',');
export const LeftParenthesis = sign('LeftParenthesis', /\(/, '(');
export const RightParenthesis = sign('RightParenthesis', /\)/, ')');

/** Every token, in the order in which the lexer tries them. */
export const vocabulary: TokenType[] = [
  ...[Space, LineComment, BlockComment, UnclosedComment],
  ...[Column, UnclosedColumn, Text, UnclosedText, NumberLiteral],
  ...[Or, And, Not, Is, In, Like, Between, Null, True, False],
  ...[Case, When, Then, Else, End, Interval, Distinct],
  ...[Over, Partition, Order, By, Direction, Ascending, Descending, Fixed, Grain, Add, Remove],
  ...[BareFunction, Name],
  ...[Comparison, Exclamation, SumOperator, Minus, Plus, ProductOperator, Star, Division],
  ...[Comma, LeftParenthesis, RightParenthesis],
];
