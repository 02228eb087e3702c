import { expect, test } from 'vitest';
import { openSession } from '../lib/session.ts';

test('a log line contains no character that could move a cursor or reverse text, and has the same JSON value', () => {
  const lines: string[] = [];
  const { logger } = openSession({
    environment: { PLATFORM_BASE_URL: 'https://acme.example.com', PLATFORM_TOKEN: 'secret' },
    err: (line) => lines.push(line),
  });
  const hostile = 'a\u001b[2J\u009b31m\u202egnp.exe\u2066\u200f\u2028\u0000\u007f';

  logger.warn({ name: hostile }, hostile);

  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ name: hostile, msg: hostile });
});

test('a log line has at most 15,000 characters, whatever is in it, and is still JSON', () => {
  const lines: string[] = [];
  const { logger } = openSession({
    environment: { PLATFORM_BASE_URL: 'https://acme.example.com', PLATFORM_TOKEN: 'secret' },
    err: (line) => lines.push(line),
  });

  logger.warn({ faults: ['x'.repeat(1_000_000)] }, 'message refused');
  logger.warn({ err: new Error('\ud800\u202e'.repeat(500_000)) }, 'y'.repeat(1_000_000));

  expect(lines.map((line) => line.length < 15_000)).toEqual([true, true]);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    msg: 'message refused',
    cut: expect.stringContaining('xxx'),
  });
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ msg: expect.stringMatching(/^y{500}…$/) });
});
