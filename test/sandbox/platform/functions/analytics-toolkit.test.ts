import { expect, test } from 'vitest';
import { codePackages } from '../../../../lib/sandbox/platform/functions/packages.ts';
import { createFunctionRunner } from '../../../../lib/sandbox/platform/functions/run-function.ts';
import { executionOf, quickOptions } from './run-once.ts';

const packageId = codePackages[0]?.id ?? '';

const run = createFunctionRunner(quickOptions);

const rows = [
  { id: 1, city: 'Oslo' },
  { id: 2, city: 'Oslo' },
  { id: 3, city: 'Bergen' },
];

test.each([
  ['addNumbers', { first: 2, second: 3 }, 5],
  ['normalizePhone', { phone: '(801) 555-0134' }, '+18015550134'],
  ['normalizePhone', { phone: '0171 2345678', countryCode: '49' }, '+491712345678'],
  ['normalizePhone', { phone: '+44 20 7946 0958' }, '+442079460958'],
  ['normalizePhone', { phone: '12' }, null],
  ['slugify', { title: '  Crème brûlée: 2 recipes! ' }, 'creme-brulee-2-recipes'],
  ['businessDays', { start: '2026-12-21', end: '2026-12-31', holidays: ['2026-12-25'] }, 8],
  ['businessDays', { start: '2026-12-31', end: '2026-12-21' }, 0],
  ['isWeekend', { date: '2026-11-21' }, true],
  ['dedupeRows', { rows, keys: ['city'] }, [rows[0], rows[2]]],
  ['forecast', { history: [120, 132, 141, 155], periods: 3 }, [165.5, 176.9, 188.3]],
  ['growthRate', { previous: 80, current: 100 }, 0.25],
  ['growthRate', { previous: 0, current: 100 }, null],
  ['latestDate', { dates: ['2026-01-31', '2026-11-21', '2025-12-31'] }, '2026-11-21'],
  ['latestDate', { dates: [] }, null],
  ['startOfHour', { moment: '2026-11-21T09:15:00+01:00' }, '2026-11-21T08:00:00.000Z'],
  ['timeBetween', { start: '2026-11-21T09:15:00Z', end: '2026-11-21T10:45:00Z' }, 'PT5400S'],
  ['addMinutes', { time: '23:50', minutes: 15 }, '00:05'],
  ['summarize', { values: [1, 2, 6] }, { count: 3, sum: 9, mean: 3, min: 1, max: 6 }],
])('%s of %j returns %j', async (functionName, inputVariables, result) => {
  const address = { packageId, version: '1.1.0', functionName };

  const execution = executionOf(await run({ ...address, inputVariables, startedBy: '27' }));

  expect(execution).toMatchObject({ status: 'SUCCESS', result });
});

test('forecast exists since 1.1.0, and the seasonal version is not released', async () => {
  const address = { packageId, functionName: 'forecast', startedBy: '27' };

  const early = await run({ ...address, version: '1.0.0' });
  const late = await run({ ...address, version: '2.0.0' });

  expect([early.kind, late.kind]).toEqual(['not-found', 'not-found']);
});

test('forecast of a single value fails and says why', async () => {
  const address = { packageId, version: '1.1.0', functionName: 'forecast' };

  const outcome = await run({ ...address, inputVariables: { history: [1], periods: 1 }, startedBy: '27' });

  expect(executionOf(outcome).errorInformation?.errorMessages).toEqual([
    'RangeError: history needs at least 2 values, got 1',
  ]);
});
