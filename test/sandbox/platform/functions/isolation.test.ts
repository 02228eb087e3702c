import { expect, test } from 'vitest';
import { createFunctionRunner } from '../../../../lib/sandbox/platform/functions/run-function.ts';
import { executionOf, quickOptions, runSource, trial } from './run-once.ts';

test.each('process require module fetch Buffer WebAssembly setTimeout XMLHttpRequest Deno std os'.split(' '))(
  'a code function cannot access %s',
  async (name) => {
    const execution = await runSource(`() => ({ type: typeof ${name}, own: '${name}' in globalThis })`);

    expect(execution.result).toEqual({ type: 'undefined', own: false });
  },
);

test.each([
  ['a constructor', '() => [].constructor.constructor("return process")()', 'process'],
  ['the console', '() => console.log.constructor("return process")()', 'process'],
  ['an import', '() => import("node:fs")', 'node:fs'],
])('a code function cannot reach Node through %s', async (_, source, named) => {
  const execution = await runSource(source);

  expect(execution.status).toBe('FAILED');
  expect(execution.errorInformation?.errorMessages).toEqual([
    expect.stringMatching(`^ReferenceError: .*${named}`),
  ]);
});

test('the next run does not see what a run puts on globalThis', async () => {
  const run = createFunctionRunner(quickOptions);

  const first = executionOf(await run(trial('reportsGlobals')));
  const second = executionOf(await run(trial('reportsGlobals')));

  expect(first.result).toEqual({ visits: 0, found: [] });
  expect(second.result).toEqual({ visits: 0, found: [] });
});

test('a run that changes built-in prototypes changes them only for itself', async () => {
  await runSource(
    '() => { Array.prototype.map = () => "spoilt"; Object.prototype.spoilt = 1; return null; }',
  );

  const next = await runSource('() => ({ mapped: [1].map((one) => one + 1), spoilt: ({}).spoilt ?? null })');

  expect(next.result).toEqual({ mapped: [2], spoilt: null });
  expect([1].map((one) => one + 1)).toEqual([2]);
  expect(({} as Record<string, unknown>).spoilt).toBeUndefined();
});

test('a function that replaces JSON and Promise.prototype.then still returns its own result', async () => {
  const execution = await runSource(
    '() => { JSON.stringify = () => "666"; Promise.prototype.then = () => {}; return { honest: true }; }',
  );

  expect(execution.result).toEqual({ honest: true });
});
