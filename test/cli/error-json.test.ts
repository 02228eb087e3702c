import { expect, test } from 'vitest';
import { explain } from '../../lib/cli/errors/explain.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { json, startServer } from '../platform/scripted-server.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfEach();

async function errorOf(argv: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const environment = {
    PLATFORM_TOKEN: 'token-of-the-test',
    SYNC_STORE: folder.path,
    LOG_LEVEL: 'silent',
    ...settings,
  };
  const { code, out, err } = await runCommand([...argv, '--json'], environment);
  return { code, error: JSON.parse(out).error, err };
}

const CALL = ['call', '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403', '1.0.0', 'f'];

test('an error about settings has every fault', async () => {
  const { code, error, err } = await errorOf(CALL, { PLATFORM_RATE: 'x' });

  expect(code).toBe(2);
  expect(error).toMatchObject({
    kind: 'settings',
    faults: [
      'PLATFORM_BASE_URL: expected the instance’s origin, such as https://acme.example.com, got nothing',
      'PLATFORM_RATE: expected a number from 0.001 to 10000, got "x"',
    ],
  });
  expect(err).toBe(`platform-sync: ${error.message}\n  ${error.advice}`);
});

test.each([[['call']], [['runs', '--limt', '3']], [['runs', 'calculatons']]])(
  'an error about usage is one JSON value: %j',
  async (argv) => {
    const { code, error } = await errorOf(argv);

    expect(code).toBe(2);
    expect(error).toMatchObject({ kind: 'usage', message: expect.stringMatching(/./) });
  },
);

test('an error of the platform says what the platform responded, and whether the request may have taken effect', async () => {
  await using server = await startServer(json({ message: 'no luck', toe: 'ABC-1' }, 500));

  const { code, error } = await errorOf(CALL, { PLATFORM_BASE_URL: server.url });

  expect(code).toBe(1);
  expect(error).toMatchObject({
    kind: 'platform',
    failure: 'status',
    status: 500,
    reference: 'ABC-1',
    mayHaveTakenEffect: true,
    message: expect.stringContaining('the request was sent'),
  });
});

test('an error of the store says which service is unavailable', async () => {
  const store = await errorOf(['runs'], { SYNC_STORE: 'https://somebody:password@host/' });
  const table = await errorOf(['jobs'], {
    SYNC_TABLE: 'jobs',
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });

  const query = await errorOf(['query', 'SELECT nothing FROM nowhere']);

  expect(query).toMatchObject({ code: 2, error: { kind: 'query', failure: 'sql' } });
  expect(store).toMatchObject({ code: 2, error: { kind: 'store', failure: 'bad-location' } });
  expect(JSON.stringify(store)).not.toContain('password');
  expect(table).toMatchObject({ code: 1, error: { kind: 'table', failure: 'unreachable' } });
});

/** An error as `--json` prints it, without its message. */
function explained(error: unknown) {
  const { message: _, ...facts } = explain(error, createFakeTerminal().terminal).error ?? {};
  return facts;
}

test('any other error has the kind of its cause, even if the causes form a cycle', () => {
  const unavailable = new TableError('read', { kind: 'unreachable', code: 'ECONNREFUSED' });
  const circle = new Error('one');
  circle.cause = new Error('other', { cause: circle });

  expect(explained(new Error('wrapped', { cause: unavailable }))).toMatchObject({
    kind: 'table',
    failure: 'unreachable',
  });
  expect(explained(new AggregateError([unavailable, new Error('unsaved')]))).toMatchObject({ kind: 'table' });
  expect(explained(circle)).toEqual({ kind: 'other' });
});
