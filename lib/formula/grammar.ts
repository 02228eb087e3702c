import { bareFunctions, entryOf, PART_FUNCTIONS, PARTS_OF_DATES } from './infer-data-type.ts';
import type * as syntax from './syntax.ts';
import { type Expression, operation, operatorOf, precedence, precedences, type Step } from './syntax.ts';
import { ADVICE, type Objection, positionOf, shown, type tokenize } from './tokens.ts';

type Token = ReturnType<typeof tokenize>['tokens'][number];

/*
 * The grammar, with one function for each rule, by recursive descent. Operators are read by precedence, from the
 * tightest to the loosest.
 */

/** What a fault says was expected where a value is missing. */
const A_VALUE = 'a value';

/**
 * Reads the tokens of a formula into a tree, and collects what the platform may refuse in it. Throws
 * `FormulaSyntaxError`.
 */
export function parseTokens(tokens: readonly Token[], text: string) {
  const at = createReader(tokens, text);
  const formula = at.nested(() => expression(at));
  for (let token = at.take(';'); token !== undefined; token = at.take(';'))
    at.warn(token, 'A formula must not end with ";": remove it.');
  const token = at.peek();
  if (token.word === ')') at.fail('This ")" has no matching "(".', token);
  if (token.kind !== 'end') at.failExpecting('an operator or the end of the formula');
  return { formula, warnings: at.warnings };
}

// The rules for operators.

/** Reads an expression whose outermost operator binds at least as tightly as `minPrecedence`. */
function expression(at: Reader, minPrecedence: number = precedence.or, expected = A_VALUE): Expression {
  let left = prefixed(at, minPrecedence, expected);
  for (let level: number = precedence.product; level >= minPrecedence; level -= 1)
    left = extended(at, left, level);
  return left;
}

/** Reads a value, with the signs or the NOT in front of it. */
function prefixed(at: Reader, minPrecedence: number, expected: string): Expression {
  const { word, offset } = at.peek();
  if (word === '+') {
    at.next();
    return at.nested(() => prefixed(at, precedence.sign, A_VALUE));
  }
  if (word === '-' || word === '!') {
    at.next();
    const operand = at.nested(() => prefixed(at, precedence.sign, A_VALUE));
    return { kind: word === '-' ? 'negation' : 'not', operand, offset };
  }
  if (word !== 'NOT' || minPrecedence > precedence.not) return value(at, expected);
  at.next();
  return { kind: 'not', operand: at.nested(() => expression(at, precedence.not)), offset };
}

/** Reads the operators of one precedence to the right of `left`. */
function extended(at: Reader, left: Expression, level: number): Expression {
  if (level === precedence.predicate) return predicate(at, left);
  const rest: Step[] = [];
  for (let next = step(at, level); next !== undefined; next = step(at, level)) rest.push(next);
  return operation(left, rest);
}

function step(at: Reader, level: number): Step | undefined {
  const operator = operatorOf(at.peek().word);
  if (operator === undefined || precedences.get(operator) !== level) return undefined;
  warnIfUncertain(at, at.next());
  if (operator !== 'IS') return { operator, operand: expression(at, level + 1) };
  return { operator: at.take('NOT') === undefined ? 'IS' : 'IS NOT', operand: constant(at) };
}

/** Reads IN, LIKE or BETWEEN and its operands, if one of them follows. */
function predicate(at: Reader, operand: Expression): Expression {
  const { offset } = operand;
  const negated = at.take('NOT') !== undefined;
  const term = () => expression(at, precedence.sum);
  if (at.take('IN')) {
    at.expect('"("', '(');
    const list = at.nested(() => separated(at, () => expression(at)));
    at.expect('")"', ')');
    return { kind: 'in', operand, list, negated, offset };
  }
  const like = at.take('LIKE', 'ILIKE', 'REGEXP', 'RLIKE');
  if (like !== undefined) {
    warnIfUncertain(at, like);
    const word = like.word === 'RLIKE' ? 'REGEXP' : (like.word as syntax.Like['word']);
    const pattern = term();
    const escaped = at.take('ESCAPE');
    const parts = escaped && [pattern, wordOf(warnIfUncertain(at, escaped)), term()];
    return { kind: 'like', word, operand, pattern: parts ? phraseOf(parts) : pattern, negated, offset };
  }
  if (at.take('BETWEEN')) {
    const low = term();
    at.expect('AND', 'AND', '&&');
    return { kind: 'between', operand, low, high: term(), negated, offset };
  }
  return negated ? at.failExpecting('IN, LIKE or BETWEEN') : operand;
}

// The rules for values.

function value(at: Reader, expected: string): Expression {
  const { kind, image, offset, word } = at.peek();
  switch (kind) {
    case 'column':
    case 'bracketed':
      at.next();
      return { kind: 'column', name: unquoteColumn(image), offset };
    case 'text':
    case 'quoted':
      at.next();
      return { kind: 'text', value: unquoteText(image), offset };
    case 'introducer':
      return phraseOf([wordOf(warnIfUncertain(at, at.next())), value(at, 'text')]);
    case 'number':
      at.next();
      return { kind: 'number', source: image, offset };
    case 'name':
      return at.peek(1).word === '(' ? aggregation(at) : bare(at);
    case 'sign':
      return word === '(' ? parenthesized(at) : at.failExpecting(expected);
    case 'reserved':
      if (word === 'CASE') return at.nested(() => caseOf(at));
      if (word === 'INTERVAL') return interval(at);
      return isConstant(word) ? constant(at) : at.failExpecting(expected);
    default:
      return at.failExpecting(expected);
  }
}

/** Reads a name without parentheses: a function that needs none, or a column without its backticks. */
function bare(at: Reader): Expression {
  const token = at.next();
  const { image: name, word, offset } = token;
  if (bareFunctions.includes(word)) return { kind: 'call', name: word, distinct: false, args: [], offset };
  at.warn(token, `${shown(name)} is read as a column: ${entryOf(word) ? 'a function needs "("' : ADVICE}.`);
  return { kind: 'column', name, offset };
}

const isConstant = (word: string) => word === 'NULL' || word === 'TRUE' || word === 'FALSE';

function constant(at: Reader): syntax.Constant {
  const { word, offset } = at.expect('NULL, TRUE or FALSE', 'NULL', 'TRUE', 'FALSE', 'UNKNOWN');
  return { kind: 'constant', value: word === 'TRUE' || word === 'FALSE' ? word : 'NULL', offset };
}

function parenthesized(at: Reader): Expression {
  at.next();
  const inner = at.nested(() => expression(at));
  at.expect('")"', ')');
  return inner;
}

function caseOf(at: Reader): syntax.Case {
  const { offset } = at.next();
  const subject = at.peek().word === 'WHEN' ? undefined : expression(at);
  const branches: syntax.Branch[] = [];
  for (at.expect('WHEN', 'WHEN'); branches.length === 0 || at.take('WHEN'); ) {
    const when = expression(at);
    at.expect('THEN', 'THEN');
    branches.push({ when, result: expression(at) });
  }
  const otherwise = at.take('ELSE') && expression(at);
  at.expect('END', 'END');
  return { kind: 'case', subject, branches, otherwise, offset };
}

function interval(at: Reader): syntax.Interval {
  const { offset } = at.next();
  const amount = at.nested(() => expression(at, precedence.sum));
  return { kind: 'interval', amount, unit: nameOf(at, 'a unit such as DAY'), offset };
}

function nameOf(at: Reader, expected: string): string {
  return at.peek().kind === 'name' ? at.next().word : at.failExpecting(expected);
}

// The rules for functions, and for the clauses that may follow them.

/** Reads a call, with the FIXED or OVER clause that may follow it. */
function aggregation(at: Reader): Expression {
  const call = at.nested(() => callOf(at));
  const { offset } = call;
  if (at.take('FIXED')) return { kind: 'fixed', call, ...at.nested(() => grain(at)), offset };
  return at.take('OVER') ? { kind: 'window', call, ...at.nested(() => window(at)), offset } : call;
}

function callOf(at: Reader): syntax.Call {
  const { word: name, offset } = at.next();
  at.next();
  const distinct = at.take('DISTINCT') !== undefined;
  const isEmpty = !distinct && at.peek().word === ')';
  const args: Expression[] = [];
  if (!isEmpty)
    do args.push(argument(at, name, args.length, args.length === 0 ? 'a value or ")"' : A_VALUE));
    while (at.take(','));
  at.expect('")"', ')');
  // `LAG(a) IGNORE NULLS` is another spelling of `LAG(a IGNORE NULLS)`.
  const last = args.pop();
  if (last !== undefined) args.push(phrase(at, [last], ['IGNORE', 'RESPECT']));
  return { kind: 'call', name, distinct, args, offset };
}

/** Reads an argument, including what some functions allow: a part of a date, a type, or words between values. */
function argument(at: Reader, name: string, index: number, expected: string): Expression {
  const { kind, word, offset } = at.peek();
  const after = at.peek(1).word;
  if (word === '*' && (after === ')' || after === ',')) {
    at.next();
    return { kind: 'star', offset };
  }
  const isPart = index === 0 && PART_FUNCTIONS.has(name) && PARTS_OF_DATES.has(word);
  if (isPart && (after === ',' || after === 'FROM')) return phrase(at, [wordOf(at.next())]);
  if (name === 'CONVERT' && index === 1 && kind === 'name') return type(at);
  const side = at.take('BOTH', 'LEADING', 'TRAILING');
  if (side !== undefined) {
    const trimmed = at.peek().word === 'FROM' ? [] : [expression(at, precedence.sum)];
    return phrase(at, [wordOf(warnIfUncertain(at, side)), ...trimmed]);
  }
  return phrase(at, [expression(at, name === 'POSITION' ? precedence.sum : precedence.or, expected)]);
}

/** Reads the words and values that follow the parts of an argument. If none follow, returns only the first part. */
function phrase(at: Reader, parts: Expression[], words = CONNECTIVES): Expression {
  for (let word = at.take(...words); word !== undefined; word = at.take(...words)) {
    warnIfUncertain(at, word);
    if (word.word === 'ORDER')
      parts.push({ ...wordOf(word), text: 'ORDER BY' }, phraseOf(sortKeys(at), true));
    else if (word.word === 'IGNORE' || word.word === 'RESPECT')
      parts.push(wordOf(word, at.expect('NULLS', 'NULLS')));
    else if (word.word === 'AS' || word.word === 'USING') parts.push(wordOf(word), type(at));
    else parts.push(wordOf(word), expression(at, precedence.sum));
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : phraseOf(parts);
}

const CONNECTIVES: readonly string[] = 'FROM FOR IN AS USING ORDER SEPARATOR IGNORE RESPECT'.split(' ');

/** Reads a type, such as `DECIMAL(10, 2)` or `SIGNED INTEGER`. */
function type(at: Reader): syntax.Word {
  const { offset } = at.peek();
  let text = nameOf(at, 'a type such as CHAR');
  if (at.take('(')) {
    const sizes = separated(at, () =>
      at.peek().kind === 'number' ? at.next().image : at.failExpecting('a number'),
    );
    at.expect('")"', ')');
    text += `(${sizes.join(', ')})`;
  }
  while (at.peek().kind === 'name') text += ` ${at.next().word}`;
  return { kind: 'word', text, offset };
}

/** Reads the parentheses after FIXED. */
function grain(at: Reader): Omit<syntax.Fixed, 'kind' | 'offset' | 'call'> {
  at.expect('"("', '(');
  const columns = () => separated(at, () => expression(at, precedence.sum, 'a column in backticks'));
  const by = at.take('BY', 'ADD', 'REMOVE')?.word as 'BY' | 'ADD' | 'REMOVE' | undefined;
  const fixed = { grain: by ?? ('TOTAL' as const), columns: by === undefined ? [] : columns() };
  const filter = at.take('FILTER') && at.expect('NONE, ALLOW or DENY', 'NONE', 'ALLOW', 'DENY');
  const filtered = filter && filter.word !== 'NONE' ? columns() : [];
  at.expect(by === undefined ? 'BY, ADD, REMOVE, FILTER or ")"' : '")"', ')');
  return filter ? { ...fixed, filter: filter.word as 'NONE' | 'ALLOW' | 'DENY', filtered } : fixed;
}

/** Reads the parentheses after OVER. */
function window(at: Reader): Omit<syntax.Window, 'kind' | 'offset' | 'call'> {
  at.expect('"("', '(');
  let partitionBy: Expression[] = [];
  if (at.take('PARTITION')) {
    at.expect('BY', 'BY');
    partitionBy = separated(at, () => expression(at));
  }
  const orderBy = at.take('ORDER') ? sortKeys(at) : [];
  const unit = at.take('ROWS', 'RANGE', 'GROUPS');
  const frame = unit && frameOf(at, warnIfUncertain(at, unit));
  at.expect('")"', ')');
  return frame ? { partitionBy, orderBy, frame } : { partitionBy, orderBy };
}

/** Reads what follows ORDER. */
function sortKeys(at: Reader): Expression[] {
  at.expect('BY', 'BY');
  return separated(at, () => sortKey(at));
}

/** Reads a sort key, such as `a DESC NULLS LAST`. For the default, ascending, returns only the key. */
function sortKey(at: Reader): Expression {
  const key = expression(at);
  const direction = at.take('ASC', 'DESC');
  const nulls = at.take('NULLS');
  const words = [
    ...(direction?.word === 'DESC' ? [wordOf(direction)] : []),
    ...(nulls ? [wordOf(warnIfUncertain(at, nulls), at.expect('FIRST or LAST', 'FIRST', 'LAST'))] : []),
  ];
  return words.length === 0 ? key : phraseOf([key, ...words]);
}

/** Reads a frame, such as `ROWS BETWEEN 3 PRECEDING AND CURRENT ROW`. */
function frameOf(at: Reader, unit: Token): syntax.Phrase {
  const between = at.take('BETWEEN');
  if (between === undefined) return phraseOf([wordOf(unit), ...bound(at)]);
  return phraseOf([wordOf(unit, between), ...bound(at), wordOf(at.expect('AND', 'AND')), ...bound(at)]);
}

/** Reads one end of a frame, such as `3 PRECEDING`. */
function bound(at: Reader): Expression[] {
  const edge = at.take('UNBOUNDED', 'CURRENT');
  const amount = edge ? wordOf(edge) : expression(at, precedence.sum);
  return [amount, wordOf(at.expect('PRECEDING, FOLLOWING or ROW', 'PRECEDING', 'FOLLOWING', 'ROW'))];
}

// Functions that several rules share.

/** Reads one or more items, separated by commas. */
function separated<Item>(at: Reader, item: () => Item): Item[] {
  const items = [item()];
  while (at.take(',')) items.push(item());
  return items;
}

const wordOf = (first: Token, ...rest: readonly Token[]): syntax.Word => ({
  kind: 'word',
  text: [first, ...rest].map(({ word }) => word).join(' '),
  offset: first.offset,
});

/** Creates a phrase. If its first part is itself a phrase, as in `DATE '2026-01-31' DESC`, the two become one. */
const phraseOf = (parts: readonly Expression[], isList = false): syntax.Phrase => ({
  kind: 'phrase',
  parts: isList
    ? parts
    : parts.flatMap((part) => (part.kind === 'phrase' && !part.isList ? part.parts : [part])),
  isList,
  offset: parts[0]?.offset ?? 0,
});

/** Returns the token, and adds a warning if MySQL has the word but the platform may not. */
function warnIfUncertain(at: Reader, token: Token): Token {
  if (/\w/.test(token.word) && !CERTAIN_WORDS.has(token.word))
    at.warn(token, `The platform may not support ${token.word}.`);
  return token;
}

const CERTAIN_WORDS: ReadonlySet<string> = new Set(['AND', 'OR', 'IS', 'LIKE']);

/*
 * Quoting: columns are in backticks (or brackets), text in single (or double) quotes. Each quote is escaped inside
 * in its own way.
 */

/** Quotes a column: `` a`b `` becomes `` `a``b` ``. */
export function quoteColumn(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** Removes a column's quotes: `` `a``b` `` becomes `` a`b ``, and `[a]]b]` becomes `a]b`. */
function unquoteColumn(source: string): string {
  const close = source.slice(-1);
  return source.slice(1, -1).replaceAll(close + close, close);
}

/** Quotes a string: `it's` becomes `'it''s'`. Quotes are doubled and backslashes escaped. */
export function quoteText(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/**
 * The string that a quoted text such as `'it''s\n'` stands for, by MySQL's rules: `\%` and `\_` keep their backslash,
 * since LIKE interprets them; an unknown escape is the character itself. Source: MySQL manual, "Special Character
 * Escape Sequences".
 */
function unquoteText(source: string): string {
  return source
    .slice(1, -1)
    .replaceAll(source.startsWith('"') ? /""|\\([\s\S])/g : /''|\\([\s\S])/g, (pair, escaped?: string) =>
      escaped === undefined
        ? pair.slice(1)
        : (escapes.get(escaped) ?? (LIKE_WILDCARDS.has(escaped) ? pair : escaped)),
    );
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['b', '\b'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['Z', '\u001A'],
]);

const LIKE_WILDCARDS: ReadonlySet<string> = new Set(['%', '_']);

/**
 * Maximum nesting of parentheses, CASEs, NOTs and signs. The grammar is recursive, and so are the functions that read
 * its trees. Node's default stack (984 KB), in a process that has just started and whose code is not compiled yet,
 * holds 200 levels of the worst mix of operators and calls. It holds 700 levels of `ABS(ABS(…`.
 */
const MAX_NESTING = 128;

const TOO_DEEP = `Expected at most ${MAX_NESTING} levels of nested parentheses, CASEs, NOTs and signs.`;

/** Thrown to the parser's only caller, at the first token that breaks the grammar. */
export class FormulaSyntaxError extends Error {
  override readonly name = 'FormulaSyntaxError';
  readonly objection: Objection;

  constructor(objection: Objection) {
    super(objection.message);
    this.objection = objection;
  }
}

/** A position in the tokens of a formula, for the rules of the grammar. */
type Reader = ReturnType<typeof createReader>;

function createReader(tokens: readonly Token[], text: string) {
  const open: Token[] = [];
  const warnings: Objection[] = [];
  let position = 0;
  let nesting = 0;

  /** The token that is `ahead` tokens further; after the last token, the end token. */
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

  /** Consumes the next token if its word is one of the given words. */
  function take(...words: readonly string[]): Token | undefined {
    return words.includes(peek().word) ? next() : undefined;
  }

  /**
   * Throws the fault. If the formula ends too early, the message also shows the parenthesis or CASE that is not closed.
   */
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
    /** Consumes a token whose word is one of the given words. */
    expect: (expected: string, ...words: readonly string[]): Token =>
      take(...words) ?? failExpecting(expected),
    /** Runs `body`, which may recurse, one level deeper. */
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
