import { expect, test } from 'vitest';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { platformOf } from '../snapshot/sandbox-call.ts';

test('if the platform loses responses, none of 200 runs of code functions is executed twice or misreported', async () => {
  await using sandbox = await startPlatform({ calculations: 0, faults: 0.4, rate: 10_000 });
  const platform = platformOf(sandbox);
  const packageId = codePackages[0]?.id ?? '';

  const runs = Array.from({ length: 200 }, (_, first) =>
    platform.functions.run({
      packageId,
      version: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: { first, second: 1 },
    }),
  );
  const outcomes = await Promise.allSettled(runs);

  const executed = sandbox
    .counts()
    .executions.map(({ inputVariables }) => Reflect.get(Object(inputVariables), 'first'));
  const timesOf = (first: number) => executed.filter((each) => each === first).length;
  expect(sandbox.counts().faults.length).toBeGreaterThan(20);
  for (const [first, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') {
      expect(outcome.value).toMatchObject({ status: 'SUCCESS', result: first + 1 });
      expect(timesOf(first)).toBe(1);
    } else {
      expect(outcome.reason).toBeInstanceOf(PlatformError);
      expect(outcome.reason).toMatchObject({ sent: true });
      expect(timesOf(first)).toBeLessThanOrEqual(1);
    }
  }
});

test.each(['POST', 'PUT'])('formulas can be set on a platform that refuses %s', async (method) => {
  await using sandbox = await startPlatform({ calculations: 5, refusedUpdates: [method] });
  const platform = platformOf(sandbox);
  const [first] = (await platform.calculations.search({ sort: { field: 'id', ascending: true } })).rows;

  for (const expression of ['1', '2']) {
    const updated = await platform.calculations.updateFormula(first?.id ?? '', expression);
    expect(updated.expression).toBe(expression);
  }
});
