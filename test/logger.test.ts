import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { JobRefusedError, RequeueError, UnfinishedError } from '../lib/jobs/send-context.ts';
import { createLogger } from '../lib/logger.ts';
import { PlatformError } from '../lib/platform/platform-error.ts';
import { StoreError } from '../lib/store/error.ts';

function lineOf(log: (logger: ReturnType<typeof createLogger>) => void) {
  const lines: string[] = [];
  log(createLogger('info', (line) => lines.push(line)));
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

const busy = new StoreError('get a', { kind: 'busy', code: 'SlowDown' });

/** An error as in a minified bundle: its class has another name. */
class E extends Error {
  override readonly name = 'ExecutionInputError';
}

test('a log line has a level and a timestamp that Lambda understands, and nothing about the process', () => {
  const line = lineOf((logger) => logger.warn({ run: 'r' }, 'said'));

  expect(line).toEqual({
    level: 'warn',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    run: 'r',
    msg: 'said',
  });
});

test('the type of an error in the log is the name that its class gives it', () => {
  const line = lineOf((logger) => logger.error({ err: new E('bad', { cause: busy }) }, 'failed'));

  expect(line.err.type).toBe('ExecutionInputError');
  expect(line.err.message).toMatch(/^bad: get a: /);
  expect(line.err.stack).toContain('caused by');
  expect(line.err).not.toHaveProperty('name');
});

test('the errors within an error are logged with their types too', () => {
  const line = lineOf((logger) => logger.error({ err: new AggregateError([busy, new E('x')], 'both') }, 'm'));

  expect(line.err.type).toBe('AggregateError');
  expect(line.err.aggregateErrors).toMatchObject([
    { type: 'StoreError', failure: { kind: 'busy' } },
    { type: 'ExecutionInputError', message: 'x' },
  ]);
});

test.each<[string, Error]>([
  [
    'of the platform',
    new PlatformError(
      { kind: 'status', status: 401 },
      { operation: 'runFunction', about: 'f', attempts: 1 },
      { cause: new Error('c') },
    ),
  ],
  ['of a service', busy],
  ['of a job', new JobRefusedError('no-such-row', 'no row has this name')],
  ['that requeues a job', new RequeueError('the worker is stopping', 0)],
  ['that another error carries', new UnfinishedError(busy, '{}')],
])('a refusal %s is logged without a stack, and with its own message', (_, error) => {
  const { err } = lineOf((logger) => logger.warn({ err: error }, 'job not done'));

  expect(err).toMatchObject({ type: error.name, message: error.message });
  expect(Object.keys(err)).not.toContain('stack');
  expect(Object.keys(err)).not.toContain('isRefusal');
});

test('a failure of unknown kind is logged with its stack', () => {
  const unnamed = new StoreError('get a', { kind: 'other', code: 'EIO' }, { cause: new Error('c') });

  expect(lineOf((logger) => logger.warn({ err: unnamed }, 'm')).err.stack).toContain('caused by');
});

test('a thrown value that is not an Error is logged unchanged', () => {
  expect(lineOf((logger) => logger.error({ err: 'a text' }, 'm')).err).toBe('a text');
});

test('every error class sets the name of its errors, since a bundle renames classes', () => {
  const classes = globSync('{lib,functions,infra}/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?<!abstract )class (\w+) extends \w*Error \{\n(.*)/g)].map(
      ([, name = '', first = '']) => ({ name, first }),
    ),
  );

  expect(classes.length).toBeGreaterThan(20);
  expect(
    classes.filter(({ name, first }) => !first.includes(`name`) || !first.includes(`'${name}'`)),
  ).toEqual([]);
});

test('a log line about a lasting failure names, for the alarms, the service that failed, whatever the level', () => {
  const denied = new StoreError('put a', { kind: 'denied', code: 'AccessDenied' });
  const cause = new Error('stopped', { cause: denied });

  expect(lineOf((logger) => logger.warn({ err: cause }, 'failed')).problem).toBe('ResourceRefused-store');
  expect(lineOf((logger) => logger.error({ err: busy }, 'failed'))).not.toHaveProperty('problem');
  expect(lineOf((logger) => logger.warn({ job: 'a' }, 'said'))).not.toHaveProperty('problem');
});
