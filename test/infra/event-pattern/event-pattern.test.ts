import { describe, expect, test } from 'vitest';
import { invalidPatterns } from './invalid-patterns.ts';
import { matchesPattern } from './match-event.ts';
import { matchingCases } from './matching-cases.ts';
import { parsePattern } from './parse-pattern.ts';

function faultsOf(pattern: unknown): readonly string[] {
  const parsed = parsePattern(pattern);
  return parsed.kind === 'faults'
    ? parsed.faults.map(({ path, expected }) => `${path.join('.')}: ${expected}`)
    : [];
}

function matches(pattern: unknown, event: string): boolean {
  const parsed = parsePattern(pattern);
  if (parsed.kind === 'faults') throw new Error(JSON.stringify(parsed.faults));
  return matchesPattern(parsed.pattern, event);
}

describe('an invalid event pattern', () => {
  test.for(invalidPatterns)('is refused: %j', ([pattern, ...faults]) => {
    expect(faultsOf(pattern)).toEqual(faults);
  });

  test('causes an error that has the path of the fault and the value there', () => {
    expect(parsePattern({ a: ['x', { prefix: 1 }] })).toMatchObject({
      faults: [{ path: ['a', 1, 'prefix'], got: 1 }],
    });
  });

  test.each([[[Number.POSITIVE_INFINITY]], [[{ 'anything-but': Number.POSITIVE_INFINITY }]]])(
    'may have a number beyond doubles, which would be deployed as null: %j',
    (a) => {
      expect(faultsOf({ a })).toHaveLength(1);
    },
  );

  test('may have a field with an empty name, which AWS’s matcher accepts but never finds', () => {
    expect(faultsOf({ a: { '': ['x'] } })).toEqual(['a.: a field with a name']);
  });

  test('may have more combinations of `$or` branches than EventBridge allows', () => {
    const or = (field: string, branches: number) => ({
      $or: Array.from({ length: branches }, (_, index) => ({ [`${field}${index}`]: [1] })),
    });

    expect(faultsOf({ a: or('a', 40), b: or('b', 25) })).toEqual([]);
    expect(faultsOf({ a: or('a', 40), b: or('b', 26) })).toEqual([
      'b.$or: at most 1000 combinations of the branches of $or',
    ]);
  });
});

describe('an event', () => {
  test.each(matchingCases)('is compared with the pattern %j: %s matches: %s', (pattern, event, expected) => {
    expect(matches(pattern, event)).toBe(expected);
  });

  test('may have characters beyond 16 bits, whose case can be ignored', () => {
    expect(matches({ a: [{ 'equals-ignore-case': '😀𐐀' }] }, '{"a":"😀𐐨"}')).toBe(true);
  });

  test('with an IP address matches only ranges of the same version, 4 or 6', () => {
    expect(matches({ a: [{ cidr: '::/0' }] }, '{"a":"26.0.0.1"}')).toBe(false);
    expect(matches({ a: [{ cidr: '10.0.0.0/8' }] }, '{"a":"0a00:0001::"}')).toBe(false);
  });

  test('with a thousand equal items in each of many arrays is matched quickly', () => {
    const items = Array.from({ length: 1_000 }, () => 1);
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
    const pattern = { ...Object.fromEntries(names.map((name) => [name, [1]])), last: [2] };
    const event = { ...Object.fromEntries(names.map((name) => [name, items])), last: 1 };

    expect(matches(pattern, JSON.stringify(event))).toBe(false);
  });

  test('is an error if it is not JSON', () => {
    expect(() => matches({ a: ['x'] }, '{')).toThrow(SyntaxError);
  });
});
