import { describe, expect, test } from 'vitest';
import { cronFaults } from '../../infra/cron.ts';
import { timeZoneFault } from '../../infra/time-zone.ts';

describe('a cron expression', () => {
  test.each([
    '0 2 * * ? *',
    '00 02 01 01 ? 2026',
    '0/15,59 * ? * MON-FRI *',
    '*/5 8-17/2 ? JAN,mar-5 2,4-6 2026-2030',
    '0 0 L * ? *',
    '0 0 LW * ? *',
    '0 0 15W * ? *',
    '0 0 1/5 1-12/3 ? 1970-2199/2',
    '0 0 ? * L *',
    '0 0 ? * 6L *',
    '0 0 ? * friL *',
    '0 0 ? * 3#5 *',
    '0 0 ? * TUE#1 *',
    '0 22-4 ? 11-2 MON-SUN *',
    '0 0 ? * * *',
  ])('%s is valid', (expression) => {
    expect(cronFaults(expression)).toEqual([]);
  });

  test.each([
    ['99 2 * * ? *', 'minute is 0 to 59 with , - * /, not "99"'],
    ['60 2 * * ? *', 'minute is 0 to 59 with , - * /, not "60"'],
    ['-1 2 * * ? *', 'minute is 0 to 59 with , - * /, not "-1"'],
    ['005 2 * * ? *', 'minute is 0 to 59 with , - * /, not "005"'],
    ['/5 2 * * ? *', 'minute is 0 to 59 with , - * /, not "/5"'],
    ['*/0 2 * * ? *', 'minute is 0 to 59 with , - * /, not "*/0"'],
    ['*/60 2 * * ? *', 'minute is 0 to 59 with , - * /, not "*/60"'],
    ['0/ 2 * * ? *', 'minute is 0 to 59 with , - * /, not "0/"'],
    ['0/5/5 2 * * ? *', 'minute is 0 to 59 with , - * /, not "0/5/5"'],
    [', 2 * * ? *', 'minute is 0 to 59 with , - * /, not ","'],
    ['1,,2 2 * * ? *', 'minute is 0 to 59 with , - * /, not "1,,2"'],
    ['*,5 2 * * ? *', 'minute is 0 to 59 with , - * /, not "*,5"'],
    ['1-2-3 2 * * ? *', 'minute is 0 to 59 with , - * /, not "1-2-3"'],
    ['1- 2 * * ? *', 'minute is 0 to 59 with , - * /, not "1-"'],
    ['? 2 * * ? *', 'minute is 0 to 59 with , - * /, not "?"'],
    ['1.5 2 * * ? *', 'minute is 0 to 59 with , - * /, not "1.5"'],
    ['0 24 * * ? *', 'hour is 0 to 23 with , - * /, not "24"'],
    ['0 */24 * * ? *', 'hour is 0 to 23 with , - * /, not "*/24"'],
    ['0 2 0 * ? *', 'day of the month is 1 to 31 with , - * /, or ?, L, LW or a day with W, not "0"'],
    ['0 2 32 * ? *', 'day of the month is 1 to 31 with , - * /, or ?, L, LW or a day with W, not "32"'],
    ['0 2 32W * ? *', 'day of the month is 1 to 31 with , - * /, or ?, L, LW or a day with W, not "32W"'],
    ['0 2 1W,2 * ? *', 'day of the month is 1 to 31 with , - * /, or ?, L, LW or a day with W, not "1W,2"'],
    ['0 2 L-3 * ? *', 'day of the month is 1 to 31 with , - * /, or ?, L, LW or a day with W, not "L-3"'],
    ['0 2 * 0 ? *', 'month is 1 to 12 or JAN to DEC with , - * /, not "0"'],
    ['0 2 * 13 ? *', 'month is 1 to 12 or JAN to DEC with , - * /, not "13"'],
    ['0 2 * FOO ? *', 'month is 1 to 12 or JAN to DEC with , - * /, not "FOO"'],
    ['0 2 * MON ? *', 'month is 1 to 12 or JAN to DEC with , - * /, not "MON"'],
    ['0 2 ? * 0 *', `${weekday()}, not "0"`],
    ['0 2 ? * 8 *', `${weekday()}, not "8"`],
    ['0 2 ? * 01 *', `${weekday()}, not "01"`],
    ['0 2 ? * XYZ *', `${weekday()}, not "XYZ"`],
    ['0 2 ? * 2#6 *', `${weekday()}, not "2#6"`],
    ['0 2 ? * 2#0 *', `${weekday()}, not "2#0"`],
    ['0 2 ? * 2#1,3#1 *', `${weekday()}, not "2#1,3#1"`],
    ['0 2 ? * 2/2 *', `${weekday()}, not "2/2"`],
    ['0 2 ? * LW *', `${weekday()}, not "LW"`],
    ['0 2 ? * #1 *', `${weekday()}, not "#1"`],
    ['0 2 * * ? 1969', 'year is 1970 to 2199 with , - * /, not "1969"'],
    ['0 2 * * ? 2200', 'year is 1970 to 2199 with , - * /, not "2200"'],
    ['0 2 * * ? 26', 'year is 1970 to 2199 with , - * /, not "26"'],
    ['0 2 * * ? L', 'year is 1970 to 2199 with , - * /, not "L"'],
  ])('%s is refused by its field', (expression, fault) => {
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
  ])('%j has not six fields with one ?', (expression) => {
    expect(cronFaults(expression)).toEqual([
      'a cron expression of six fields, such as 0 2 * * ? *, with ? for one of the two days',
    ]);
  });

  test('names every wrong field', () => {
    expect(cronFaults('60 24 * * ? *')).toHaveLength(2);
  });
});

function weekday(): string {
  return 'day of the week is 1 to 7 or SUN to SAT with , - *, or ?, L, a day with L, or a day with # and 1 to 5';
}

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
  ])('%j is refused, and a right one is named', (zone, meant) => {
    expect(timeZoneFault(zone)).toBe(`the IANA name of a time zone, such as ${meant}`);
  });
});
