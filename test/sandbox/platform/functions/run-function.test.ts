import { describe, expect, test } from 'vitest';
import { codePackages } from '../../../../lib/sandbox/platform/functions/packages.ts';
import { createFunctionRunner } from '../../../../lib/sandbox/platform/functions/run-function.ts';
import { executionOf, quickOptions, runSource, trial } from './run-once.ts';

const packageId = codePackages[0]?.id ?? '';

const run = createFunctionRunner(quickOptions);

const addNumbers = {
  packageId,
  version: '1.0.0',
  functionName: 'addNumbers',
  startedBy: '27',
};

describe('a function that succeeds', () => {
  test('returns the whole record, without errorInformation', async () => {
    const outcome = await run({ ...addNumbers, inputVariables: { first: 2, second: 40 } });

    expect(outcome).toEqual({
      kind: 'executed',
      execution: {
        executionId: 'execution-1',
        packageId,
        version: '1.0.0',
        functionName: 'addNumbers',
        status: 'SUCCESS',
        settings: { getLogs: false },
        startedOn: '2026-11-21T09:15:00.000Z',
        startedBy: '27',
        completedOn: '2026-11-21T09:15:00.000Z',
        result: 42,
        stdout: { log: [] },
        stderr: { log: [] },
      },
    });
  });

  test('may be async', async () => {
    const execution = await runSource('async () => { await null; return { settled: await 7 }; }');

    expect(execution).toMatchObject({ status: 'SUCCESS', result: { settled: 7 } });
  });

  test('passes null for a nullable input that is omitted', async () => {
    expect(executionOf(await run(trial('echo')))).toMatchObject({ status: 'SUCCESS', result: null });
  });

  test('passes any JSON unchanged, even if it is not well-formed Unicode', async () => {
    const value = {
      text: 'é😀\u0000\ud800',
      nested: [{ deep: [1.5, null, true] }],
      ['__proto__']: { own: 1 },
    };

    const execution = executionOf(await run(trial('echo', { inputVariables: { value } })));

    expect(execution.result).toEqual(value);
  });

  test('runs alongside others without mixing up their results', async () => {
    const sums = [1, 2, 3, 4].map((first) => run({ ...addNumbers, inputVariables: { first, second: 0 } }));

    const results = (await Promise.all(sums)).map((outcome) => executionOf(outcome).result);

    expect(results).toEqual([1, 2, 3, 4]);
  });
});

describe('a function that fails', () => {
  test.each([
    ['throws an error', 'throwsError', 'RangeError: it went wrong on purpose'],
    ['rejects', 'rejectsLater', 'Error: rejected on purpose'],
    ['never settles', 'neverSettles', 'The function returned a promise that never settles'],
    ['calls itself endlessly', 'callsItself', 'InternalError: stack overflow'],
  ])('has the status FAILED when it %s', async (_, functionName, message) => {
    const execution = executionOf(await run(trial(functionName)));

    expect(execution).toMatchObject({
      status: 'FAILED',
      result: null,
      stderr: { log: [] },
      errorInformation: { errorMessages: [message] },
    });
  });

  test.each([
    ['throw "as text"', 'as text'],
    ['throw { code: 7 }', '{"code":7}'],
    ['throw null', 'null'],
    ['throw undefined', 'undefined'],
    ['throw Symbol("odd")', 'Symbol(odd)'],
    ['const ring = {}; ring.self = ring; return ring', 'TypeError: circular reference'],
    ['return () => 1', 'TypeError: a function cannot be a result'],
    ['return 1n', 'TypeError: Do not know how to serialize a BigInt'],
  ])('has a message that describes `%s`', async (body, message) => {
    const execution = await runSource(`() => { ${body} }`);

    expect(execution).toMatchObject({ status: 'FAILED', errorInformation: { errorMessages: [message] } });
  });

  test('has the status FAILED when its source does not parse', async () => {
    const execution = await runSource('() => {');

    expect(execution).toMatchObject({ status: 'FAILED' });
    expect(execution.stderr.log).toEqual([expect.stringContaining('SyntaxError')]);
  });

  test('has a shortened message if the message is long', async () => {
    const execution = await runSource('() => { throw "x".repeat(1e6); }');

    expect(execution.errorInformation?.errorMessages).toEqual(['x'.repeat(4_096)]);
  });
});

describe('an output of the wrong type', () => {
  test('causes RESULT_TYPE_FAILURE with all details of the difference', async () => {
    const execution = executionOf(await run(trial('returnsWrongType')));

    expect(execution).toMatchObject({ status: 'RESULT_TYPE_FAILURE', result: null });
    expect(execution.errorInformation).toEqual({
      result: ['one', 'two'],
      expectedType: 'number',
      actualType: 'text',
      expectedIsList: false,
      actualIsList: true,
      expectedAllowNull: false,
      errorMessages: ['Expected number (whole), got list of text'],
    });
  });

  test('may be null even if null is not allowed', async () => {
    const execution = executionOf(await run(trial('returnsNull')));

    expect(execution.errorInformation).toMatchObject({
      result: null,
      expectedIsList: true,
      actualType: 'null',
    });
  });

  test('causes OUTPUT_UNDEFINED, without errorInformation, when the function returns nothing', async () => {
    const execution = executionOf(await run(trial('returnsNothing')));

    expect(execution).toMatchObject({ status: 'OUTPUT_UNDEFINED', result: null });
    expect(execution).not.toHaveProperty('errorInformation');
  });
});

describe('the limits of a function run', () => {
  test.each(['loopsForever', 'waitsForever'])(
    'end the function %s at the time limit',
    { timeout: 2_000 },
    async (functionName) => {
      const runBriefly = createFunctionRunner({ ...quickOptions, timeLimitMs: 100 });

      const execution = executionOf(await runBriefly(trial(functionName, { settings: { getLogs: true } })));

      expect(execution).toMatchObject({
        status: 'FAILED',
        stderr: { log: ['The function exceeded the time limit of 100 ms'] },
        errorInformation: { errorMessages: ['The function exceeded the time limit of 100 ms'] },
      });
    },
  );

  test('measure time by the clock that was passed in', async () => {
    const clock = { ms: 0 };
    const monotonicMs = () => {
      clock.ms += 60_000;
      return clock.ms;
    };
    const runOnClock = createFunctionRunner({ ...quickOptions, timeLimitMs: 300_000, monotonicMs });

    const execution = executionOf(await runOnClock(trial('loopsForever')));

    expect(execution.status).toBe('FAILED');
    expect(clock.ms).toBe(420_000);
  });

  test.each([
    ['large blocks', 'for (;;) blocks.push(new Uint8Array(1 << 20));'],
    ['small objects', 'for (;;) blocks.push({ small: 1 });'],
    ['text', 'for (let at = 0; ; at += 1) blocks.push("x".repeat(1e5) + at);'],
    ['one huge block', 'new ArrayBuffer(1 << 30);'],
  ])('end a function that fills the memory with %s', async (_, body) => {
    const execution = await runSource(`() => { const blocks = []; ${body} }`);

    expect(execution.errorInformation?.errorMessages).toEqual([
      'The function exceeded the memory limit of 33554432 bytes',
    ]);
  });

  test.each(['eatsMemory', 'callsItself', 'nestsTooDeep'])(
    'do not affect a call that waits behind three calls of %s, nor a later call',
    async (functionName) => {
      const runAlone = createFunctionRunner(quickOptions);
      const large = trial('echo', { inputVariables: { value: { text: 'x'.repeat(2_000_000) } } });
      const failing = trial(functionName);

      const beside = await Promise.all(
        [failing, failing, failing, large].map((request) => runAlone(request)),
      );
      const after = await runAlone(large);

      const statuses = [...beside, after].map((outcome) => executionOf(outcome).status);
      expect(statuses).toEqual(['FAILED', 'FAILED', 'FAILED', 'SUCCESS', 'SUCCESS']);
    },
  );
});

test.each([
  ['package', { packageId: 'b7c1a3de-0000-4000-8000-000000000000' }, /^No code package b7c1a3de/],
  ['version', { version: '9.9.9' }, /has no version 9\.9\.9$/],
  ['released version', { version: '1.1.0' }, /^Version 1\.1\.0 of code package .* is not released$/],
  ['function', { functionName: 'toString' }, /has no function toString$/],
])('a function is not found without a matching %s', async (_, part, message) => {
  const outcome = await run({ ...trial('echo'), ...part });

  expect(outcome).toEqual({ kind: 'not-found', message: expect.stringMatching(message) });
});

describe('invalid input variables', () => {
  test('are all reported together, and no function runs', async () => {
    const outcome = await run({
      packageId,
      version: '1.1.0',
      functionName: 'businessDays',
      inputVariables: { start: '2026-02-30', holidays: [1], holiday: true },
      startedBy: '27',
    });

    expect(outcome).toEqual({
      kind: 'bad-input',
      message:
        'inputVariables of businessDays: start: expected date (YYYY-MM-DD), got text; ' +
        'end: expected date (YYYY-MM-DD), got nothing; ' +
        'holidays: expected list of date (YYYY-MM-DD) or null, got list of number; ' +
        'holiday: not an input of this function',
    });
  });

  test('are reported as missing if the request has none at all', async () => {
    const outcome = await run(trial('logsMuch'));

    expect(outcome).toEqual({
      kind: 'bad-input',
      message: 'inputVariables of logsMuch: count: expected number (whole), got nothing',
    });
  });

  test('are not looked up on Object.prototype', async () => {
    const outcome = await run(
      trial('echo', { inputVariables: JSON.parse('{"__proto__": {}, "value": null}') }),
    );

    expect(outcome).toMatchObject({ kind: 'bad-input', message: expect.stringContaining('__proto__') });
  });
});
