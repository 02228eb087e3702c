import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { cronFaults } from '../../infra/cron.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { linesOf } from '../run-program.ts';
import { arbitraryCron } from './arbitrary-cron.ts';
import { invalidCrons, validCrons } from './crons.ts';

/** Expressions that Scheduler rejects or does not document, but this validator accepts: see the known differences. */
const ENGINE_FAULTS = [
  '*/60 2 * * ? *',
  '0 */24 * * ? *',
  '0 2 */32 * ? *',
  '0 2 ? */13 MON *',
  '0 *-5 * * ? *',
  '0 5-* * * ? *',
  '0 2 ? * L-3 *',
] as const;

const GENERATED = 3_000;
const SEED = 20_261_121;

const generated = fc.sample(arbitraryCron, { numRuns: GENERATED, seed: SEED });
const crons = [...generated, ...validCrons, ...invalidCrons.map(([cron]) => cron), ...ENGINE_FAULTS];
const faults = new Map<string, string | null>();

beforeAll(async () => {
  const { cronValidator } = enginesOf(process.env);
  if (cronValidator === undefined) throw new Error('expected the engine cronValidator');
  const output = await linesOf(
    cronValidator.command,
    crons.map((cron) => JSON.stringify(cron)),
  );
  for (const [index, cron] of crons.entries()) faults.set(cron, JSON.parse(output[index] ?? ''));
}, 60_000);

const isValid = (cron: string) => faults.get(cron) === null;

test.each(validCrons)('AWS’s validator accepts the cron expression %s', (cron) => {
  expect(isValid(cron)).toBe(true);
});

test.each(invalidCrons)('AWS’s validator refuses the cron expression %s', (cron) => {
  expect(isValid(cron)).toBe(false);
});

test.each(ENGINE_FAULTS)('%s', (cron) => {
  expect(isValid(cron)).toBe(cronFaults(cron).length === 0);
});

test('cron.ts and AWS’s validator agree on generated expressions', () => {
  const differing = generated.filter((cron) => isValid(cron) !== (cronFaults(cron).length === 0));

  expect(differing).toEqual([]);
});

test('generated expressions include enough valid and enough invalid ones', () => {
  const valid = generated.filter(isValid).length;

  expect(valid).toBeGreaterThan(GENERATED / 5);
  expect(valid).toBeLessThan((GENERATED * 4) / 5);
});
