import { expect, test } from 'vitest';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { faultsOf } from '../../lib/json/faults.ts';

const schema = z.object({ sort: z.object({}), limit: z.number({ error: 'a whole number' }) });

test.each([
  ['of none', undefined],
  // As in a program that imports zod itself, whose first import sets its messages for everybody.
  ['of zod in English', en().localeError],
])('a fault reads the same with the messages %s', (_name, error) => {
  const parsed = schema.safeParse({ limit: 'x' }, error === undefined ? {} : { error });

  expect(faultsOf(parsed.error as z.core.$ZodError, { limit: 'x' })).toEqual([
    'sort: expected an object, got nothing',
    'limit: expected a whole number, got "x"',
  ]);
});
