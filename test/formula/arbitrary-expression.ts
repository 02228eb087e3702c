import fc from 'fast-check';
import {
  CLOCK_UNITS,
  catalog,
  DAY_UNITS,
  type FunctionEntry,
  INTERVAL_FUNCTIONS,
} from '../../lib/formula/infer-data-type.ts';
import {
  type Call,
  type Column,
  type Expression,
  type Interval,
  type Operator,
  operation,
  type Phrase,
  type Step,
} from '../../lib/formula/syntax.ts';
import { anyCodePoint } from '../any-text.ts';

const offset = 0;
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('`', "'", '\\', '-', '/', '*', '\n'),
    fc.string({ unit: anyCodePoint, minLength: 1, maxLength: 1 }),
  ),
});

export const column: fc.Arbitrary<Column> = anyText
  .filter((name) => name !== '')
  .map((name) => ({ kind: 'column', name, offset }));
const number = fc
  .stringMatching(/^(\d{1,30}\.?\d{0,5}|\.\d{1,5})(e[+-]?\d{1,3})?$/)
  .map((source): Expression => ({ kind: 'number', source, offset }));
const text = anyText.map((value): Expression => ({ kind: 'text', value, offset }));
const constant = fc
  .constantFrom('NULL', 'TRUE', 'FALSE')
  .map((value): Expression => ({ kind: 'constant', value, offset }));
const star: Expression = { kind: 'star', offset };

const word = (all: string): Expression => ({ kind: 'word', text: all, offset });
const words = (all: string) => all.split('|').map(word);
/** A phrase as the parser returns it: it absorbs a phrase at its beginning. */
const phrase = (...parts: readonly Expression[]): Phrase => ({
  kind: 'phrase',
  parts: parts.flatMap((part) => (part.kind === 'phrase' && !part.isList ? part.parts : [part])),
  isList: false,
  offset,
});
const named = (kind: FunctionEntry['kind']) =>
  fc.constantFrom(...catalog.entries().filter(([, entry]) => entry.kind === kind));
const call = (name: string, args: readonly Expression[], distinct = false): Call => ({
  kind: 'call',
  name,
  distinct,
  args,
  offset,
});
const reference = fc
  .tuple(fc.constantFrom('SERVICE_BEAST_MODE', 'X_VARIABLE'), fc.bigInt({ min: 0n, max: 10n ** 30n }))
  .map(([name, id]) => call(name, [{ kind: 'number', source: String(id), offset }]));

/** Any formula of the language. */
export const expression: fc.Arbitrary<Expression> = fc.letrec<{ any: Expression; call: Call }>((tie) => {
  const any = tie('any');
  const some = fc.array(any, { minLength: 1, maxLength: 3 });
  const maybe = fc.option(any, { nil: undefined });
  const callOf = ([name, { minArgs, maxArgs }]: [string, FunctionEntry]) =>
    fc
      .array(any, { minLength: minArgs, maxLength: Math.min(maxArgs, minArgs + 2) })
      .map((args) => call(name, args));
  const key = fc.oneof(
    any,
    fc
      .tuple(any, fc.subarray(['DESC', 'NULLS LAST'], { minLength: 1 }))
      .map(([of, after]) => phrase(of, ...after.map(word))),
  );
  const aggregate = named('aggregate').chain(callOf);
  const distinct = fc
    .tuple(fc.constantFrom('COUNT', 'SUM'), any)
    .map(([name, arg]) => call(name, [arg], true));
  const interval = fc.record({
    kind: fc.constant('interval' as const),
    amount: any,
    unit: fc.constantFrom(...DAY_UNITS, ...CLOCK_UNITS),
    offset: fc.constant(offset),
  });
  const steps = (operators: readonly Operator[], operand: fc.Arbitrary<Expression>) =>
    fc.array(fc.record({ operator: fc.constantFrom(...operators), operand }), { minLength: 1, maxLength: 3 });
  const chain = (...rest: fc.Arbitrary<Step[]>[]) =>
    fc.tuple(any, fc.oneof(...rest)).map(([first, all]) => operation(first, all));
  const grain = fc.oneof(
    fc.constant({ grain: 'TOTAL' as const, columns: [] }),
    fc.record({
      grain: fc.constantFrom('BY', 'ADD', 'REMOVE'),
      columns: fc.array(column, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      grain: fc.constantFrom('BY', 'ADD', 'REMOVE'),
      columns: fc.array(column, { minLength: 1, maxLength: 3 }),
      filter: fc.constantFrom('ALLOW', 'DENY'),
      filtered: fc.array(column, { minLength: 1, maxLength: 2 }),
    }),
    fc.constant({ grain: 'TOTAL' as const, columns: [], filter: 'NONE' as const, filtered: [] }),
  );

  return {
    call: fc.oneof(aggregate, distinct),
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true, maxDepth: 5 },
      column,
      fc.oneof(number, text, constant, reference, fc.constant(call('COUNT', [star]))),
      any.map((operand): Expression => ({ kind: 'negation', operand, offset })),
      any.map((operand): Expression => ({ kind: 'not', operand, offset })),
      chain(steps(['OR'], any)),
      chain(steps(['XOR'], any)),
      chain(steps(['AND'], any)),
      chain(steps(['=', '<=>', '<>', '<', '<=', '>', '>='], any), steps(['IS', 'IS NOT'], constant)),
      chain(steps(['+', '-'], any), steps(['+', '-'], interval)),
      chain(steps(['*', '/', '%', 'DIV'], any)),
      fc
        .record({ operand: any, list: some, negated: fc.boolean() })
        .map((node): Expression => ({ kind: 'in', ...node, offset })),
      fc
        .record({
          operand: any,
          word: fc.constantFrom('LIKE', 'ILIKE', 'REGEXP'),
          pattern: fc.oneof(
            any,
            fc.tuple(any, any).map(([text, by]) => phrase(text, word('ESCAPE'), by)),
          ),
          negated: fc.boolean(),
        })
        .map((node): Expression => ({ kind: 'like', ...node, offset })),
      fc
        .record({ operand: any, low: any, high: any, negated: fc.boolean() })
        .map((node): Expression => ({ kind: 'between', ...node, offset })),
      fc
        .record({
          subject: maybe,
          branches: fc.array(fc.record({ when: any, result: any }), { minLength: 1, maxLength: 3 }),
          otherwise: maybe,
        })
        .map((node): Expression => ({ kind: 'case', ...node, offset })),
      named('scalar').chain(callOf),
      fc
        .tuple(fc.constantFrom(...INTERVAL_FUNCTIONS), any, interval)
        .map(([name, date, by]: [string, Expression, Interval]) => call(name, [date, by])),
      tie('call'),
      fc
        .record({ call: tie('call'), frame: grain, outer: fc.constantFrom('SUM', 'AVG', 'MAX') })
        .map(({ call: inner, frame, outer }) =>
          call(outer, [{ kind: 'fixed', call: inner, ...frame, offset }]),
        ),
      fc
        .record({
          call: fc.oneof(named('window').chain(callOf), tie('call')),
          partitionBy: fc.array(any, { maxLength: 2 }),
          orderBy: fc.array(key, { maxLength: 2 }),
        })
        .map((node): Expression => ({ kind: 'window', ...node, offset })),
      fc
        .record({
          call: tie('call'),
          partitionBy: fc.constant([]),
          orderBy: fc.array(key, { minLength: 1, maxLength: 2 }),
          frame: fc.oneof(
            any.map((amount) => phrase(word('ROWS'), amount, word('PRECEDING'))),
            any.map((amount) =>
              phrase(...words('RANGE BETWEEN|UNBOUNDED|PRECEDING|AND'), amount, word('FOLLOWING')),
            ),
          ),
        })
        .map((node): Expression => ({ kind: 'window', ...node, offset })),
      any.map((of) => call('CAST', [phrase(of, ...words('AS|DECIMAL(10, 2)'))])),
      any.map((of) => call('CONVERT', [of, word('SIGNED INTEGER')])),
      any.map((of) => call('EXTRACT', [phrase(...words('YEAR|FROM'), of)])),
      any.map((of) => call('TIMESTAMPDIFF', [word('DAY'), of])),
      fc.tuple(any, any).map(([part, of]) => call('TRIM', [phrase(word('BOTH'), part, word('FROM'), of)])),
      fc.tuple(any, any).map(([part, of]) => call('POSITION', [phrase(part, word('IN'), of)])),
      fc
        .tuple(any, fc.array(key, { minLength: 1, maxLength: 2 }), text)
        .map(([of, keys, by]) =>
          call('GROUP_CONCAT', [
            phrase(
              of,
              word('ORDER BY'),
              { kind: 'phrase', parts: keys, isList: true, offset },
              word('SEPARATOR'),
              by,
            ),
          ]),
        ),
      text.map((of) => phrase(word('DATE'), of)),
    ),
  };
}).any;
