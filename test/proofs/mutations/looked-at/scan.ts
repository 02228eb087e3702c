import type { LookedAt } from '../report.ts';

/** The survivors of the group `scan` that need no test, and why. */
export const scan: readonly LookedAt[] = [
  {
    file: 'lib/snapshot/sources/rereading.ts',
    code: 'isWorthRereading = () => false',
    to: ['() => undefined'],
    why: 'undefined is no reason to read again either',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-position.ts',
    code: 'first === undefined || last === null',
    to: ['false'],
    why: 'undefined is neither below nor equal to a time; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-position.ts',
    code: 'last !== null && created < last.created',
    to: ['true'],
    why: 'a page with rows has a last time; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-scan.ts',
    code: 'target !== null && last?.created === target',
    to: ['true', 'last.created'],
    why: 'no time is null, and after fresh rows there is a last one; the checks are for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-scan.ts',
    code: 'top.at(-1)?.created ?? last',
    to: ['top.at(-1).created'],
    why: 'rows that descend are some; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-scan.ts',
    code: 'top[0]?.created ?? null',
    to: ['top[0].created'],
    why: 'rows that descend are some; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-scan.ts',
    code: 'const reported = { degraded: false',
    to: ['{}', 'true'],
    why: 'each step has what was reported instead',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-scan.ts',
    code: '(created - before.created) *',
    to: ['(created - before.created) / (ascending ? 1 : -1)'],
    why: 'a number multiplied by 1 or -1 is that divided by it',
  },
  {
    file: 'lib/snapshot/sources/calculations/created-scan.ts',
    code: "isRepeat ? 'came twice'",
    to: ['before.created'],
    why: 'what comes after has something before it; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/creation-time.ts',
    code: "typeof time !== 'number'",
    to: ['false'],
    why: 'what is no number is not finite; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/creation-time.ts',
    code: 'ISO_TIME.exec(text) ?? []',
    to: ['["Stryker was here"]'],
    why: 'the first entry is not used',
  },
  {
    file: 'lib/snapshot/sources/calculations/offset-scan.ts',
    code: 'first !== undefined && last !== null',
    to: ['true'],
    why: 'a scan that has taken nothing reads from offset 0; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/offset-scan.ts',
    code: '!isExtended && start !== null && end !== null',
    to: ['true'],
    why: 'the lower one of null and a total is null, or 0, and nothing is below that; the checks are for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/offset-scan.ts',
    code: 'sign * compareIds(before, key) >= 0',
    to: ['sign / compareIds(before, key)'],
    why: 'the sign is the same, and 1 / 0 is above 0, too',
  },
  {
    file: 'lib/snapshot/sources/calculations/offset-scan.ts',
    code: 'if (at < 0) return',
    to: ['at <= 0'],
    why: 'the first row comes after no other',
  },
  {
    file: 'lib/snapshot/sources/calculations/pages-ahead.ts',
    code: 'ahead.get(offset)?.left',
    to: ['ahead.get(offset).left'],
    why: 'only pages under way are dropped; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/sorted-pages.ts',
    code: 'created?.[row]',
    to: ['created[row]'],
    why: 'the field is looked for, so it has a column; the check is for the compiler',
  },
];
