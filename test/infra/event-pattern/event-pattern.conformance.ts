import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { enginesOf } from '../../base/aws/engines.ts';
import { linesOf } from '../../run-program.ts';
import { arbitraryPair } from './arbitrary-pair.ts';
import { invalidPatterns } from './invalid-patterns.ts';
import { matchesPattern } from './match-event.ts';
import { matchingCases } from './matching-cases.ts';
import { parsePattern } from './parse-pattern.ts';

type Pair = { readonly pattern: unknown; readonly event: string };

type Answer = 'invalid' | 'matches' | 'does not match';

/** Pairs in which the engine has a fault, each with a separate test: see the known differences. */
const ENGINE_FAULTS: readonly (readonly [what: string, pair: Pair])[] = [
  [
    'an emoji without regard to case',
    { pattern: { a: [{ 'equals-ignore-case': '😀' }] }, event: '{"a":"😀"}' },
  ],
  ['a range with a second slash', { pattern: { a: [{ cidr: '10.0.0.0/8/' }] }, event: '{"a":"10.0.0.1"}' }],
  ['a range with a sign', { pattern: { a: [{ cidr: '10.0.0.0/+8' }] }, event: '{"a":"10.0.0.1"}' }],
  ['a number in a wide range of addresses', { pattern: { a: [{ cidr: '10.0.0.0/1' }] }, event: '{"a":5}' }],
  ['an address of IPv4 in all of IPv6', { pattern: { a: [{ cidr: '::/0' }] }, event: '{"a":"26.0.0.1"}' }],
  [
    'a number that is the hexadecimal form of an address',
    { pattern: { a: ['1.1.1.1', 12345678] }, event: '{"a":"18.52.86.120"}' },
  ],
  [
    'a value outside an array whose item has another at the same path',
    { pattern: { a: [1], 'a.b': ['x'] }, event: '{"a":[[1,{"b":"y"}]],"a.b":"x"}' },
  ],
  ['an empty name within another', { pattern: { a: { '': ['x'] } }, event: '{"a":{"":"x"}}' }],
];

const GENERATED = 4_000;
const SEED = 20_261_121;

const generated: readonly Pair[] = fc.sample(arbitraryPair, { numRuns: GENERATED, seed: SEED });

const pairs: readonly Pair[] = [
  ...generated,
  ...invalidPatterns.map(([pattern]) => ({ pattern, event: '{}' })),
  ...matchingCases.map(([pattern, event]) => ({ pattern, event })),
  ...ENGINE_FAULTS.map(([, pair]) => pair),
];

const answers = new Map<string, Answer>();
const lineOf = ({ pattern, event }: Pair) => JSON.stringify({ pattern: JSON.stringify(pattern), event });
const answerOf = (pair: Pair) => answers.get(lineOf(pair));

beforeAll(async () => {
  const { eventRuler } = enginesOf(process.env);
  if (eventRuler === undefined) throw new Error('expected the engine eventRuler');
  const lines = pairs.map(lineOf);
  const output = await linesOf(eventRuler.command, lines);
  for (const [index, line] of lines.entries()) answers.set(line, readAnswer(output[index] ?? '{}'));
}, 120_000);

function readAnswer(line: string): Answer {
  const answer = JSON.parse(line) as { fault?: string; matches?: boolean; threw?: string };
  // A rule that the engine cannot add counts as invalid, like one that its check rejects.
  if (answer.fault !== undefined || answer.threw !== undefined) return 'invalid';
  return answer.matches === true ? 'matches' : 'does not match';
}

function ourAnswer({ pattern, event }: Pair): Answer {
  const parsed = parsePattern(pattern);
  if (parsed.kind === 'faults') return 'invalid';
  return matchesPattern(parsed.pattern, event) ? 'matches' : 'does not match';
}

test.for(invalidPatterns)('AWS’s matcher refuses the pattern %j', ([pattern]) => {
  expect(answerOf({ pattern, event: '{}' })).toBe('invalid');
});

test.each(matchingCases)('the pattern %j matches the event %s: %s', (pattern, event, matches) => {
  expect(answerOf({ pattern, event })).toBe(matches ? 'matches' : 'does not match');
});

test.each(ENGINE_FAULTS)('%s', (_, pair) => {
  expect(answerOf(pair)).toBe(ourAnswer(pair));
});

describe('generated patterns and events', () => {
  test('include enough invalid, matching and not matching pairs', () => {
    const counted = Object.groupBy(generated, (pair) => answerOf(pair) ?? 'invalid');

    expect(counted.matches?.length).toBeGreaterThan(GENERATED / 10);
    expect(counted['does not match']?.length).toBeGreaterThan(GENERATED / 10);
    expect(counted.invalid?.length).toBeGreaterThan(GENERATED / 20);
  });

  test('have the same outcome in the matcher of the tests and in AWS’s', () => {
    const differing = generated
      .map((pair) => ({ ...pair, ours: ourAnswer(pair), engine: answerOf(pair) }))
      .filter(({ ours, engine }) => ours !== engine);

    expect(differing).toEqual([]);
  });
});
