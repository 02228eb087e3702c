import { afterAll, describe, expect, test } from 'vitest';
import { scaled } from '../../scale.ts';
import { fuzz } from './fuzz.ts';
import { Finding, type FuzzTarget, tryInput } from './target.ts';
import { corpusOf, fuzzTargets, targetNamed } from './targets.ts';

/** Number of inputs tried for each target: about one second of CPU time per target. */
const RUNS: Readonly<Record<string, number>> = {
  responses: 150,
  answers: 600,
  messages: 400,
  rows: 400,
  formulas: 300,
  settings: 600,
};

afterAll(async () => {
  for (const target of fuzzTargets) await target.close?.();
});

describe.each(fuzzTargets.map(({ name }) => name))('%s', (name) => {
  const target = targetNamed(name);

  test('handles inputs that once failed', async () => {
    for (const { file, input } of corpusOf(target.name)) {
      expect([file, await tryInput(target, input)]).toEqual([
        file,
        expect.objectContaining({ kind: 'outcome' }),
      ]);
    }
  });

  test('keeps every property for inputs that are generated from a fixed seed', async () => {
    const runs = RUNS[target.name] ?? 0;
    const report = await fuzz(target, {
      seed: 1,
      runs: scaled(runs, 10 * runs),
      corpus: corpusOf(target.name).map(({ input }) => input),
    });

    expect(report.found).toBeUndefined();
    expect(report.executions).toBeGreaterThanOrEqual(runs);
    expect(report.outcomes.size).toBeGreaterThanOrEqual(15);
  });
});

test('the fuzzer finds a violated property and reduces its input to a minimum', async () => {
  const broken: FuzzTarget = {
    ...targetNamed('messages'),
    async check(input) {
      if (JSON.stringify(input).includes('"__proto__')) throw new Finding('no __proto__', 'found');
      return 'fine';
    },
  };

  const { found } = await fuzz(broken, { seed: 1, runs: 5_000 });

  expect(found?.finding.property).toBe('no __proto__');
});
