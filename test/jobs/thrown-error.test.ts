import pino from 'pino';
import { expect, test } from 'vitest';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';

const unreadable = (name: string) =>
  Object.defineProperty(new Error('it failed'), name, {
    enumerable: true,
    get() {
      throw new Error('not for you');
    },
  });

/** The logged error of a job whose runner throws this. */
async function loggedOf(thrown: unknown): Promise<unknown> {
  const fake = fakeWorker({ 'run-function': () => Promise.reject(thrown) });
  const logged: unknown[] = [];
  const warn = ({ err }: { readonly err?: unknown }) => void logged.push(err);
  const logger = Object.assign(pino({ level: 'silent' }), { warn });
  await fake.handle(runFunctionJob, { worker: { logger } });
  return logged[0];
}

test('an Error is returned unchanged', async () => {
  const error = new TypeError('it failed', { cause: 'this' });

  expect(await loggedOf(error)).toBe(error);
});

test.each([
  ['a text', 'it failed', 'it failed'],
  ['nothing', undefined, 'undefined'],
  [
    'an error whose message is no text',
    Object.assign(new Error(), { message: 5 }),
    'an error without a message',
  ],
  ['an error that throws when it is read', unreadable('stack'), 'an error that cannot be read'],
  [
    'an error with a field that throws when it is read',
    unreadable('details'),
    'an error that cannot be read',
  ],
  ['a value that cannot become text', Object.create(null), 'an error that cannot be read'],
])('%s becomes an Error with a message', async (_, thrown, message) => {
  const error = await loggedOf(thrown);

  expect(error).toBeInstanceOf(Error);
  expect(error).toHaveProperty('message', message);
});
