import { expect, test } from 'vitest';
import { version } from '../package-version.ts';
import { json, startServer } from '../platform/scripted-server.ts';
import { runCommand } from './run-command.ts';

test.each([
  [['--help'], 'Usage: platform-sync'],
  [['snapshot', '--help'], 'calculations'],
  [['formula', 'set', '--help'], '--unless-changed-since <ms>'],
  [['help'], 'Usage: platform-sync'],
  [['help', 'prune'], 'Usage: platform-sync prune'],
  [['help', 'jobs', 'cancel'], 'Usage: platform-sync jobs cancel'],
])('%j shows help and exits 0', async (argv, expected) => {
  const { code, out } = await runCommand(argv);

  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(expected) });
});

test('asking for help about an unknown command is an error', async () => {
  expect(await runCommand(['help', 'prunes'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error: unknown command 'prunes'\n\(Did you mean prune\?\)/),
  });
});

test('-v prints the version', async () => {
  expect(await runCommand(['-v'])).toMatchObject({ code: 0, out: version });
});

test.each([
  [130, 130],
  [90, 90],
  [40, 80],
])('on a terminal of %i columns, lines of help have at most %i characters', async (width, max) => {
  const { out } = await runCommand(['formula', 'apply', '--help'], {}, '', { width });

  const described = out.slice(0, out.indexOf('Examples:')).split('\n');
  const longest = Math.max(...described.map((line) => line.length));
  expect(longest).toBeLessThanOrEqual(max);
  expect(longest).toBeGreaterThan(max - 30);
});

test('a token that the platform echoes in its response is not printed', async () => {
  await using platform = await startServer((response, seen) =>
    json({ message: `bad token ${seen.headers['x-service-developer-token']}` }, 401)(response, seen),
  );
  const environment = { PLATFORM_BASE_URL: platform.url, PLATFORM_TOKEN: 'topsecret', LOG_LEVEL: 'trace' };

  const { code, out, err } = await runCommand(['snapshot', 'calculations'], environment);

  expect(code).toBe(1);
  expect(err).toContain('bad token [token]');
  expect(out + err).not.toContain('topsecret');
});

test('text from the platform cannot move the cursor', async () => {
  const message = 'red \u001b[31malert\u001b]0;title\u0007 \u009b2J';
  await using platform = await startServer(json({ message }, 400));
  const environment = { PLATFORM_BASE_URL: platform.url, PLATFORM_TOKEN: 'a-token' };

  const { err } = await runCommand(['snapshot', 'calculations'], environment);

  expect(err).toContain('alert');
  expect(err.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});
