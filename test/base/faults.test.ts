import { expect, test } from 'vitest';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { faultsOf, listed } from '../../lib/base/faults.ts';

const schema = z.object({ sort: z.object({}), limit: z.number({ error: 'a whole number' }) });

test.each([
  ['no messages', undefined],
  // `import 'zod'` in a program that uses us sets these messages for every user of zod.
  ['its English messages', en().localeError],
])('a fault reads the same if zod has %s', (_name, error) => {
  const parsed = schema.safeParse({ limit: 'x' }, error === undefined ? {} : { error });

  expect(faultsOf(parsed.error as z.core.$ZodError, { limit: 'x' })).toEqual([
    'sort: expected an object, got nothing',
    'limit: expected a whole number, got "x"',
  ]);
});

test('an error about 100,000 unknown names lists 50 of them, each shortened', () => {
  const given = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, at) => [`${at}-${'x'.repeat(1_000)}`, 1]),
  );
  const parsed = z.strictObject({ a: z.number() }).safeParse({ b: 1, ...given });

  const faults = faultsOf(parsed.error as z.core.$ZodError, given);

  expect(faults).toHaveLength(51);
  expect(faults.slice(0, 2)).toEqual(['a: expected a number, got nothing', 'b: not a known name']);
  expect(faults.at(-1)).toBe('and 99952 more');
  expect(Math.max(...faults.map(({ length }) => length))).toBeLessThan(350);
});

test('an error about many names lists 20 of them, each shortened', () => {
  expect(listed(['a', 'b'])).toBe('"a", "b"');
  expect(listed(Array.from({ length: 10_000 }, (_, at) => `${at}${'x'.repeat(100)}`))).toMatch(
    /^"0x{59}…", .* and 9980 more$/,
  );
});
