import { expect, test } from 'vitest';
import { thrownError } from '../../lib/jobs/handle-message.ts';

const unreadable = (name: string) =>
  Object.defineProperty(new Error('it failed'), name, {
    enumerable: true,
    get() {
      throw new Error('not for you');
    },
  });

test('an error stays the same object', () => {
  const error = new TypeError('it failed', { cause: 'this' });

  expect(thrownError(error)).toBe(error);
});

test.each([
  ['a text', 'it failed', 'it failed'],
  ['nothing', undefined, 'undefined'],
  [
    'an error whose message is no text',
    Object.assign(new Error(), { message: 5 }),
    'an error without a text',
  ],
  ['an error that throws when it is read', unreadable('stack'), 'an error that cannot be read'],
  ['one with such a field', unreadable('details'), 'an error that cannot be read'],
  ['what cannot be a text', Object.create(null), 'an error that cannot be read'],
])('%s becomes an error in words', (_, thrown, message) => {
  const error = thrownError(thrown);

  expect(error).toBeInstanceOf(Error);
  expect(error.message).toBe(message);
});
