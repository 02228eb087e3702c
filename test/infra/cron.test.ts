import { describe, expect, test } from 'vitest';
import { cronFaults } from '../../infra/cron.ts';
import { timeZoneFault } from '../../infra/time-zone.ts';
import { invalidCrons, validCrons } from './crons.ts';

describe('a cron expression', () => {
  test.each(validCrons)('%s is valid', (expression) => {
    expect(cronFaults(expression)).toEqual([]);
  });

  test.each(invalidCrons)('%s is refused, and the error names its field', (expression, fault) => {
    expect(cronFaults(expression)).toEqual([`a cron expression whose ${fault}`]);
  });

  test.each([
    '',
    '0 2 * * ?',
    '0 2 * * ? * *',
    '0  2 * * ? *',
    ' 0 2 * * ? *',
    '0 2 * * * *',
    '0 2 ? * ? *',
    '0 2 1 * 2 *',
  ])('%j does not have six fields with exactly one ?', (expression) => {
    expect(cronFaults(expression)).toEqual([
      'a cron expression of six fields, such as 0 2 * * ? *, with ? for one of the two days',
    ]);
  });

  test.each([
    [
      '*/60 2 * * ? *',
      'minute is 0 to 59 (lists with ",", ranges with "-", steps with "/" and "*" are allowed), not "*/60"',
    ],
    [
      '0 */24 * * ? *',
      'hour is 0 to 23 (lists with ",", ranges with "-", steps with "/" and "*" are allowed), not "*/24"',
    ],
    [
      '0 2 ? * L-3 *',
      'day of the week is 1 to 7 or SUN to SAT (lists with ",", ranges with "-" and "*" are allowed), or "?", "L", a day followed by L, such as 6L, or a day followed by # and 1 to 5, such as 6#2, not "L-3"',
    ],
    [
      '0 *-5 * * ? *',
      'hour is 0 to 23 (lists with ",", ranges with "-", steps with "/" and "*" are allowed), not "*-5"',
    ],
  ])('%s is refused by Scheduler, although other cron parsers accept it', (expression, fault) => {
    expect(cronFaults(expression)).toEqual([`a cron expression whose ${fault}`]);
  });

  test('names every wrong field', () => {
    expect(cronFaults('60 24 * * ? *')).toHaveLength(2);
  });
});

describe('a time zone', () => {
  test.each([
    'Europe/Berlin',
    'America/Argentina/Buenos_Aires',
    'Asia/Kolkata',
    'Europe/Kyiv',
    'UTC',
    'GMT',
    'Etc/GMT+12',
    'Etc/GMT-14',
  ])('%s is valid', (zone) => {
    expect(timeZoneFault(zone)).toBeUndefined();
  });

  test.each([
    ['+02:00', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['utc', 'UTC'],
    ['US/Pacific', 'America/Los_Angeles'],
    ['Etc/GMT+13', 'Europe/Berlin'],
    ['Factory', 'Europe/Berlin'],
    ['Mars', 'Europe/Berlin'],
    ['', 'Europe/Berlin'],
  ])('%j is refused, and the error gives a right one', (zone, meant) => {
    expect(timeZoneFault(zone)).toBe(`the IANA name of a time zone, such as ${meant}`);
  });
});
