import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { commandCases } from './cases/cases.ts';
import type { CommandCase, CommandEnd } from './command-case.ts';

/*
 * Runs the real command line with hostile settings, arguments, files, objects, responses and proxies. Checks its exit
 * code, its first error line, its number of requests, its duration, and the memory that it adds to the process, whose
 * heap is limited too.
 */

const HEAP_MB = 128;
const MAX_MB = 400;
/** Maximum memory that one command may add, including uncollected garbage: ten times the largest file or object. */
const MAX_ADDED_MB = {
  settings: 60,
  usage: 80,
  queries: 120,
  files: 100,
  objects: 100,
  responses: 100,
} as const;
/** Maximum length of a message. Log lines are shorter. */
const MAX_CHARACTERS = 33_000;
const HIDDEN = /[^\n\P{Cc}]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const ends = new Map<string, CommandEnd>();

// Each group has a separate process, so that memory that DuckDB's threads still hold after a query does not count for
// other groups.
beforeAll(() => {
  for (const group of Object.keys(commandCases)) {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [`--max-old-space-size=${HEAP_MB}`, 'test/hostile/run-cases-process.ts', group],
      { encoding: 'utf8', maxBuffer: 100_000_000 },
    );
    if (status !== 0) throw new Error(`${group} ended with ${status}: ${stderr.slice(-2_000)}`);
    for (const line of stdout.trim().split('\n')) {
      const end: CommandEnd = JSON.parse(line);
      ends.set(end.name, end);
    }
  }
}, 400_000);

test('there are more than 200 hostile uses of commands, each with its own name', () => {
  expect(ends.size).toBe(Object.values(commandCases).flat().length);
  expect(ends.size).toBeGreaterThan(200);
});

describe.each(Object.keys(commandCases) as (keyof typeof commandCases)[])('hostile %s:', (group) => {
  test.each<CommandCase>(commandCases[group])('$name', ({ name, code, says, requests = 0, ...most }) => {
    const { maxSeconds = 10, maxMb = MAX_ADDED_MB[group] } = most;
    const end = ends.get(name);

    expect(end).toMatchObject({ code, requests, said: expect.stringMatching(says) });
    expect(end?.said).not.toMatch(HIDDEN);
    expect(end?.said).not.toContain('secret-of-the-test');
    expect(end?.length).toBeLessThan(MAX_CHARACTERS);
    expect(end?.seconds).toBeLessThan(maxSeconds);
    expect(end?.peakMb).toBeLessThan(MAX_MB);
    if (process.platform === 'linux') expect((end?.peakMb ?? 0) - (end?.beforeMb ?? 0)).toBeLessThan(maxMb);
  });
});
