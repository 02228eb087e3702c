import { expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { json, startServer } from '../platform/scripted-server.ts';
import { createFakeTerminal } from './fake-terminal.ts';

test.each([
  [['--help'], 'Usage: platform-sync'],
  [['snapshot', '--help'], 'calculations'],
  [['snapshot', 'calculations', '--help'], '--force'],
  [['call', '--help'], '--input <json>'],
  [['formula', 'check', '--help'], '<file>'],
  [['formula', 'set', '--help'], '--unless-changed-since <ms>'],
  [['sandbox', '--help'], '--churn <n>'],
])('%j shows help and exits 0', async (argv, expected) => {
  const { terminal, out } = createFakeTerminal();

  const code = await runCommandLine(argv, terminal);

  expect(code).toBe(0);
  expect(out()).toContain(expected);
});

test.each([
  [['nonsense'], "unknown command 'nonsense'"],
  [['snapshot', 'kalkulations'], "unknown command 'kalkulations'"],
  [['call', 'only-one'], "missing required argument 'version'"],
  [
    ['call', 'a', 'b', 'c', '--input', '[1]'],
    '--input: expected a JSON object such as \'{"name": "value"}\', got "[1]"',
  ],
  [['call', 'a', 'b', 'c', '--input', '-'], '--input: expected a JSON object on standard input such as'],
  [['call', 'a', 'b', 'c', '--input', '@no/such'], 'no/such: expected a file that can be read'],
  [['sandbox', '--rate', 'fast'], 'Expected a number from 0.01 to 100000, got "fast".'],
  [['sandbox', '--calculations', '1.5'], 'Expected a whole number from 0'],
  [
    ['formula', 'check', 'no/such/file'],
    'no/such/file: expected a file that can be read, or - for standard input, got ENOENT',
  ],
  [['formula', 'set', 'twelve', '-'], 'id: expected the digits of an integer, got "twelve"'],
  [
    ['formula', 'set', '12', '-', '--name', 'x'],
    '--unless-changed-since: expected a value, since --name is given, got nothing',
  ],
  [
    ['formula', 'set', '12', '-', '--unless-changed-since', '5'],
    '--name: expected a value, since --unless-changed-since is given, got nothing',
  ],
  [['formula', 'set', '12', '-'], 'standard input: expected text that is not empty, got ""'],
  [['call', 'a', '..', 'c'], 'version: expected a name that is not empty, "." or "..", got ".."'],
  [['snapshot', 'calculations'], 'PLATFORM_BASE_URL: expected'],
])('%j is wrong usage: it says so and exits 2', async (argv, expected) => {
  const { terminal, out, err } = createFakeTerminal();

  const code = await runCommandLine(argv, terminal);

  expect(code).toBe(2);
  expect(err()).toContain(expected);
  expect(out()).toBe('');
});

test('an invalid UUID exits 2 before anything is sent', async () => {
  const { terminal, err } = createFakeTerminal({
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 't',
  });

  const code = await runCommandLine(['call', 'no-uuid', '1.0.0', 'f'], terminal);

  expect(code).toBe(2);
  expect(err()).toContain('package: expected a UUID (8-4-4-4-12 hex digits), got "no-uuid"');
});

test('a token that the platform echoes in its response is not shown', async () => {
  await using platform = await startServer((response, seen) =>
    json({ message: `bad token ${seen.headers['x-service-developer-token']}` }, 401)(response, seen),
  );
  const environment = { PLATFORM_BASE_URL: platform.url, PLATFORM_TOKEN: 'topsecret', LOG_LEVEL: 'trace' };
  const { terminal, out, err } = createFakeTerminal(environment);

  const code = await runCommandLine(['snapshot', 'calculations'], terminal);

  expect(code).toBe(1);
  expect(err()).toContain('bad token [token]');
  expect(out() + err()).not.toContain('topsecret');
});

test('the platform’s text cannot move the cursor', async () => {
  const message = 'red \u001b[31malert\u001b]0;title\u0007 \u009b2J';
  await using platform = await startServer(json({ message }, 400));
  const { terminal, err } = createFakeTerminal({
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: 'a-token',
  });

  await runCommandLine(['snapshot', 'calculations'], terminal);

  expect(err()).toContain('alert');
  expect(err().replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});
