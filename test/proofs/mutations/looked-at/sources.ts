import type { LookedAt } from '../report.ts';

/** The survivors of the group `sources` that need no test, and why. */
export const sources: readonly LookedAt[] = [
  {
    file: 'lib/snapshot/sources/calculations/scan.ts',
    code: 'isShort = start !== null && end !== null',
    to: ['true', 'start !== null || end !== null'],
    why: 'the lower one of null and a total is null, or 0, and nothing is below that; the checks are for the compiler',
  },
  {
    file: 'lib/snapshot/sources/calculations/scan.ts',
    code: 'provedIf(false, [])',
    to: ['["Stryker was here"]'],
    why: 'what is not proved assumes nothing',
  },
  {
    file: 'lib/snapshot/sources/cards/cards-in.ts',
    code: 'datasources?.[card]',
    to: ['datasources[card]'],
    why: 'the field is looked for, so it has a column; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/cards/cards-in.ts',
    code: 'while (at < records && compareKeys',
    to: ['false', 'true', 'at <= records', 'at >= records', 'at -= 1'],
    why: 'only faster: cards that came in order are then sorted, too',
  },
  {
    file: 'lib/snapshot/sources/cards/cards-in.ts',
    code: 'if (at >= records)',
    to: ['false', 'at > records'],
    why: 'only faster: cards that came in order are then sorted, too',
  },
  {
    file: 'lib/snapshot/sources/files/fileset-read.ts',
    code: 'totals: { start: null, end: null }',
    to: ['{}'],
    why: 'the first page replaces both',
  },
  {
    file: 'lib/snapshot/sources/files/judge-read.ts',
    code: 'start !== null && end !== null && files',
    to: ['true', 'start !== null || end !== null'],
    why: 'the lower one of null and a total is null, or 0, and nothing is below that; the checks are for the compiler',
  },
  {
    file: 'lib/snapshot/sources/files/pages.ts',
    code: "typeof context === 'object'",
    to: ['true'],
    why: 'a number, a text and a truth value have no such members',
  },
  {
    file: 'lib/snapshot/sources/files/pages.ts',
    code: 'found?.index.values ?? []',
    to: ['["Stryker was here"]'],
    why: 'a page without files has no rows, so no column is used',
  },
  {
    file: 'lib/snapshot/sources/files/pages.ts',
    code: 'ids?.[row]',
    to: ['ids[row]'],
    why: 'the field is looked for, so it has a column; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/sources/files/scan.ts',
    code: 'await steps.return(undefined as never)',
    to: ['{}', ';'],
    why: 'the steps below hold nothing that must be released',
  },
  {
    file: 'lib/snapshot/sources/files/seen-cursors.ts',
    code: 'Math.log2(count + 1)',
    to: ['count - 1'],
    why: 'each anchor is then two cursors later, and a loop of any length reaches one all the same',
  },
  {
    file: 'lib/snapshot/sources/files/where.ts',
    code: '.exec(text) ?? []',
    to: ['["Stryker was here"]'],
    why: 'the first of them is not used',
  },
  {
    file: 'lib/snapshot/sources/files/where.ts',
    code: 'if (field === undefined || operator === undefined)',
    to: ['false', 'field === undefined && operator === undefined'],
    why: 'both match or neither does; the second check is for the compiler',
  },
];
