import { describe, expect, test } from 'vitest';
import { assumptions } from '../../../../lib/sandbox/platform/assumptions.ts';
import { createFunctionRunner } from '../../../../lib/sandbox/platform/functions/run-function.ts';
import { executionOf, quickOptions, runSource, trial } from './run-once.ts';

const run = createFunctionRunner(quickOptions);

describe('a run with `getLogs`', () => {
  test('has one entry for each console call: a single argument is unchanged, several are joined as a string', async () => {
    const request = trial('logsMuch', { inputVariables: { count: 2 }, settings: { getLogs: true } });

    const execution = executionOf(await run(request));

    expect(execution.settings).toEqual({ getLogs: true });
    expect(execution.stdout.log).toEqual(['rows 2', 2, { count: 2, tags: ['a', 'b'] }, 'row 0', 'row 1']);
    expect(execution.stderr.log).toEqual(['no errors true null', 'TypeError: only a warning']);
  });

  test.each([
    ['nothing', 'console.log()', ''],
    ['undefined', 'console.log(undefined)', 'undefined'],
    ['null', 'console.log(null)', null],
    ['a function', 'console.log(Math.max)', expect.stringContaining('native code')],
    ['a big integer', 'console.log(12n)', '12'],
    ['a circular object', 'const ring = {}; ring.self = ring; console.log(ring)', '[object Object]'],
    [
      'an object that cannot be converted to text',
      'console.log({ toJSON() { throw 1 }, toString() { throw 2 } })',
      '[unprintable]',
    ],
  ])('can log %s', async (_, body, entry) => {
    const execution = await runSource(`() => { ${body}; return null; }`);

    expect(execution.stdout.log).toEqual([entry]);
    expect(execution.status).toBe('SUCCESS');
  });

  test('cuts off stdout and stderr separately after a number of entries, and marks the cut', async () => {
    const execution = await runSource(
      '() => { for (let at = 0; at < 5000; at += 1) console.log(at); console.error("kept"); return null; }',
    );

    expect(execution.stdout.log).toHaveLength(assumptions.maxLogEntries + 1);
    expect(execution.stdout.log.at(-1)).toBe(assumptions.logCutMark);
    expect(execution.stderr.log).toEqual(['kept']);
  });

  test('cuts off a log after a number of characters, and still reports a failure', async () => {
    const execution = await runSource(
      '() => { for (let at = 0; at < 100; at += 1) console.error("x".repeat(1e5)); throw "the end"; }',
    );

    expect(execution.stderr.log).toEqual([
      'x'.repeat(1e5),
      'x'.repeat(1e5),
      assumptions.logCutMark,
      'the end',
    ]);
  });
});

test.each([
  ['is false', { getLogs: false }],
  ['is absent', {}],
  ['and settings are absent', undefined],
])('without `getLogs`, both logs are empty when the function %s, even if it failed', async (_, settings) => {
  const execution = executionOf(await run(trial('throwsError', { settings })));

  expect(execution).toMatchObject({ status: 'FAILED', settings: { getLogs: false } });
  expect(execution.stdout).toEqual({ log: [] });
  expect(execution.stderr).toEqual({ log: [] });
});
