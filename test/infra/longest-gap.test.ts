import { expect, test } from 'vitest';
import { longestGapHours } from '../../infra/longest-gap.ts';
import { validCrons } from './crons.ts';

test.each([
  ['0 2 * * ? *', 'UTC', 24],
  // The day on which summer time ends.
  ['0 2 * * ? *', 'Europe/Berlin', 25],
  ['0 12 * * ? *', 'America/New_York', 25],
  ['0 2 * * ? *', 'Asia/Kolkata', 24],
  ['0/15 * * * ? *', 'UTC', 1],
  ['0/30 4 * * ? *', 'UTC', 24],
  ['0 6,18 * * ? *', 'UTC', 12],
  ['0 3,20 * * ? *', 'UTC', 17],
  ['0 3 ? * MON-FRI *', 'UTC', 72],
  ['0 3 ? * FRI-MON *', 'UTC', 96],
  ['0 3 ? * 2-6 *', 'UTC', 72],
  ['0 2 ? * SUN *', 'UTC', 168],
  ['0 2 ? * L *', 'UTC', 168],
  ['0 2 1 * ? *', 'UTC', 31 * 24],
  ['0 2 L * ? *', 'UTC', 31 * 24],
  ['0 2 31 * ? *', 'UTC', 61 * 24],
  ['0 2 ? * 2#1 *', 'UTC', 35 * 24],
  ['0 2 ? * 6L *', 'UTC', 35 * 24],
  // From Friday the 30th of January to Friday the 27th of February is short; Monday the 1st after a weekend is long.
  ['0 2 LW * ? *', 'UTC', 33 * 24],
  // This gap does not occur in the first years, but in 2028.
  ['0 2 1 1 ? *', 'UTC', 366 * 24],
  ['0 2 29 2 ? *', 'UTC', (3 * 365 + 366) * 24],
  ['0 2 1 1,7 ? *', 'UTC', 184 * 24],
  ['0 2 1-7 * ? *', 'UTC', 25 * 24],
  ['0 2 */3 * ? *', 'UTC', 72],
  ['0 2 * * ? 2026-2027', 'UTC', 24],
  ['0 2 1 1 ? 2030', 'UTC', Number.POSITIVE_INFINITY],
  ['0 2 * * ? 2020', 'UTC', Number.POSITIVE_INFINITY],
] as const)('the cron %s in the time zone %s runs again after at most %d hours', (cron, timeZone, hours) => {
  expect(longestGapHours(cron, timeZone)).toBe(hours);
});

test('the longest gap between runs is known for every cron expression that synth accepts', () => {
  for (const cron of validCrons) expect(longestGapHours(cron, 'Europe/Berlin')).toBeGreaterThan(0);
});
