import type { LookedAt } from '../report.ts';

/** The survivors of the group `texts` that need no test, and why. */
export const texts: readonly LookedAt[] = [
  {
    file: 'lib/jobs/texts/scoring/stopping.ts',
    code: "failure.kind === 'status' &&",
    to: ['true'],
    why: 'no other failure has a status; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/scoring/score-text.ts',
    code: "stop?.kind === 'error'",
    to: ['true', 'stop.kind'],
    why: 'the run was stopped a moment ago; if it goes back to the queue, nobody reads what stopped a text',
  },
  {
    file: 'lib/jobs/texts/scoring/score-text.ts',
    code: "failure.kind === 'status' && failure.status === 401",
    to: ['true'],
    why: 'no other failure has a status; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/scoring/score-text.ts',
    code: "decision.kind === 'retry'",
    to: ['true'],
    why: 'no other decision has a delay; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/scoring/run.ts',
    code: 'deadlineMs !== undefined',
    to: ['true'],
    why: 'no time is at undefined, or after it; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/scoring/send-text.ts',
    code: 'let [recorded, left] = [false, false]',
    to: ['[]'],
    why: 'undefined is no more true than false',
  },
  {
    file: 'lib/jobs/texts/rows/csv-fields.ts',
    code: 'record_delimiter: [',
    to: ['[]'],
    why: 'the parser then finds the first line break by itself, and any is a fault',
  },
  {
    file: 'lib/jobs/texts/rows/csv-fields.ts',
    code: '!(error instanceof CsvError)',
    to: ['false'],
    why: 'the parser throws nothing else',
  },
  {
    file: 'lib/jobs/texts/rows/csv-header.ts',
    code: "exec(first?.text ?? '') ?? []",
    to: ['["Stryker was here"]'],
    why: 'only the second element is read',
  },
  {
    file: 'lib/jobs/texts/rows/csv-header.ts',
    code: 'chosen ?? { separator',
    why: 'there is always a candidate; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/rows/csv-header.ts',
    code: 'names: [], fault: parsed.fault',
    to: ['["Stryker was here"]'],
    why: 'a header with a fault is refused, whatever its names',
  },
  {
    file: 'lib/jobs/texts/rows/read-rows.ts',
    code: 'indexes.get(name) ?? -1',
    to: ['+1'],
    why: 'every requested column is in the header; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/rows/read-rows.ts',
    code: 'exec(name) ?? []',
    to: ['["Stryker was here"]'],
    why: 'only the second element is read',
  },
  {
    file: 'lib/jobs/texts/rows/lookahead.ts',
    code: 'start > 1_000 && start * 2 > held.length',
    why: 'it decides only when memory is freed: what is read is the same',
  },
  {
    file: 'lib/jobs/texts/rows/row-fields.ts',
    code: 'id !== undefined && row.id.trim()',
    to: ['true'],
    why: 'the number of a line is never empty',
  },
  {
    file: 'lib/jobs/texts/rows/encoding.ts',
    code: 'return undefined;',
    to: ['{}'],
    why: 'undefined all the same',
  },
  {
    file: 'lib/jobs/texts/rows/encoding.ts',
    code: 'return false;',
    to: ['{}'],
    why: 'undefined is no more true than false',
  },
  {
    file: 'lib/jobs/texts/rows/encoding.ts',
    code: 'broken === 0 || isUtf8',
    to: ['false'],
    why: 'a sample without broken bytes is valid: the other check says so too',
  },
  {
    file: 'lib/jobs/texts/rows/csv-rows.ts',
    code: 'first === undefined || last === undefined || unclosed',
    to: ['false'],
    why: 'there is a first line; and a row that is not closed has only that one, so that both ways skip it alone',
  },
  {
    file: 'lib/jobs/texts/rows/csv-rows.ts',
    code: "alone.kind === 'broken' && alone.isStrayQuote",
    to: ['true'],
    why: 'nothing else has a stray quote; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/rows/csv-rows.ts',
    code: "parsed.kind === 'broken' ? parsed.fault",
    to: ['true'],
    why: 'nothing else has a fault; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/rows/csv-rows.ts',
    code: `text.split('"').length - 1`,
    to: [`text.split('"').length + 1`],
    why: 'only whether it is odd matters',
  },
  {
    file: 'lib/jobs/texts/rows/csv-rows.ts',
    code: 'lines[0]?.number',
    to: ['lines[0].number'],
    why: 'a row has a line; the check is for the compiler',
  },
  {
    file: 'lib/jobs/texts/rows/source-lines.ts',
    code: 'if (length > LONGEST_ROW) held = []',
    to: ['false', '["Stryker was here"]'],
    why: 'it bounds memory: a line that is too long has no text',
  },
  {
    file: 'lib/jobs/texts/rows/source-bytes.ts',
    code: '{ objectMode: true, highWaterMark: 1 }',
    why: 'it bounds how much is read ahead',
  },
  {
    file: 'lib/jobs/texts/cache/stored-cache.ts',
    code: 'at < keys.length',
    to: ['at <= keys.length'],
    why: 'one more group, of no segments',
  },
  {
    file: 'lib/jobs/texts/cache/stored-cache.ts',
    code: '(holders.get(nameOf(line)) ?? []).filter',
    to: ['["Stryker was here"]'],
    why: 'the row was just written to a segment, so there is a holder; the check is for the compiler',
  },
];
