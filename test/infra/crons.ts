/** Crons that EventBridge Scheduler accepts. */
export const validCrons: readonly string[] = [
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
];

/** Crons that Scheduler rejects because of one field, with the field's name in the fault. Each part replaces the `_`. */
const refused: readonly (readonly [cron: string, field: string, parts: readonly string[]])[] = [
  [
    '_ 2 * * ? *',
    'minute is 0 to 59 (lists with ",", ranges with "-", steps with "/" and "*" are allowed)',
    '99 60 -1 005 /5 */0 0/ 0/5/5 , 1,,2 *,5 1-2-3 1- ? 1.5'.split(' '),
  ],
  [
    '0 _ * * ? *',
    'hour is 0 to 23 (lists with ",", ranges with "-", steps with "/" and "*" are allowed)',
    ['24'],
  ],
  [
    '0 2 _ * ? *',
    'day of the month is 1 to 31 (lists with ",", ranges with "-", steps with "/" and "*" are allowed), or "?", "L", "LW" or a day followed by W, such as 15W',
    '0 32 32W 1W,2 L-3'.split(' '),
  ],
  [
    '0 2 * _ ? *',
    'month is 1 to 12 or JAN to DEC (lists with ",", ranges with "-", steps with "/" and "*" are allowed)',
    '0 13 FOO MON'.split(' '),
  ],
  [
    '0 2 ? * _ *',
    'day of the week is 1 to 7 or SUN to SAT (lists with ",", ranges with "-" and "*" are allowed), or "?", "L", a day followed by L, such as 6L, or a day followed by # and 1 to 5, such as 6#2',
    '0 8 01 XYZ 2#6 2#0 2#1,3#1 2/2 LW #1'.split(' '),
  ],
  [
    '0 2 * * ? _',
    'year is 1970 to 2199 (lists with ",", ranges with "-", steps with "/" and "*" are allowed)',
    '1969 2200 26 L'.split(' '),
  ],
];

export const invalidCrons: readonly (readonly [cron: string, fault: string])[] = refused.flatMap(
  ([cron, field, parts]) =>
    parts.map((part) => [cron.replace('_', part), `${field}, not "${part}"`] as const),
);
