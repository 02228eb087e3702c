import type { LookedAt } from '../report.ts';

/** The survivors of the group `page` that need no test, and why. */
export const page: readonly LookedAt[] = [
  {
    file: 'lib/snapshot/page/found-batch.ts',
    code: 'first !== undefined && order.some',
    to: ['true'],
    why: 'without `first` no record gets it; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/page/found-batch.ts',
    code: 'end < order.length && mostBytes',
    to: ['end <= order.length'],
    why: 'the memory of the last piece is larger, and its lines are the same',
  },
  {
    file: 'lib/snapshot/page/found-batch.ts',
    code: 'if (mayHoldLineEnds) replaceLineEnds',
    to: ['true'],
    why: 'where there are no line ends none is replaced; it only takes time',
  },
  {
    file: 'lib/snapshot/page/found-batch.ts',
    code: 'let at = start; at < end',
    to: ['at <= end'],
    why: 'the byte at the end of a line is written right after: its line feed',
  },
  {
    file: 'lib/snapshot/page/json-bytes.ts',
    code: 'at < bytes.length',
    to: ['at <= bytes.length'],
    why: 'past the end there is no byte, and the loop ends all the same',
  },
  {
    file: 'lib/snapshot/page/json-bytes.ts',
    code: 'at <= lastWord',
    to: ['at < lastWord'],
    why: 'the last four bytes are then checked one at a time',
  },
  {
    file: 'lib/snapshot/page/json-bytes.ts',
    code: 'byte > 0x20 ||',
    to: ['false'],
    why: 'only faster: what is above 0x20 is none of the others',
  },
  {
    file: 'lib/snapshot/page/record-fields.ts',
    code: 'types: [0], next: [BEFORE_FIRST]',
    to: ['[]'],
    why: 'an entry that is missing reads as 0',
  },
  {
    file: 'lib/snapshot/page/record-fields.ts',
    code: 'fields.next.push(BEFORE_FIRST)',
    to: [';'],
    why: 'an entry that is missing reads as 0; only arrays without holes are fast',
  },
  {
    file: 'lib/snapshot/page/record-fields.ts',
    code: 'fields.starts.push(0)',
    to: [';'],
    why: 'an entry that is missing reads as 0; only arrays without holes are fast',
  },
  {
    file: 'lib/snapshot/page/record-fields.ts',
    code: 'fields.lengths.push(0)',
    to: [';'],
    why: 'an entry that is missing reads as 0; only arrays without holes are fast',
  },
  {
    file: 'lib/snapshot/page/record-fields.ts',
    code: 'index < last',
    to: ['index <= last'],
    why: 'the last four bytes are compared anyway',
  },
  {
    file: 'lib/snapshot/page/record-finder.ts',
    code: 'again.index.values[0]?.[0]',
    to: ['again.index.values[0][0]'],
    why: 'the field that is the key has a column; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/page/record-finder.ts',
    code: '() => NONE',
    to: ['() => undefined'],
    why: 'a place that is undefined is stored as NONE',
  },
  {
    file: 'lib/snapshot/page/record-finder.ts',
    code: 'field < places.length',
    to: ['field <= places.length'],
    why: 'there is no column for the field that is one too many',
  },
  {
    file: 'lib/snapshot/page/record-finder.ts',
    code: 'if (column !== undefined)',
    to: ['true'],
    why: 'each field has a column; the check is for the compiler',
  },
  {
    file: 'lib/snapshot/page/record-index.ts',
    code: 'at < rows.length',
    to: ['at <= rows.length'],
    why: 'a write past the end of a typed array does nothing',
  },
  {
    file: 'lib/snapshot/page/record-index.ts',
    code: 'const difference = (index.numbers',
    to: [
      'index.numbers[a]',
      'index.numbers[b]',
      'index.numbers?.[a] && Number.NaN',
      'index.numbers?.[b] && Number.NaN',
    ],
    why: 'only integer keys are compared, so there are numbers; without them the digits are compared, which is slower',
  },
  {
    file: 'lib/snapshot/page/scan-response.ts',
    code: 'others.get(name) ?? [0, 0]',
    to: ['[]'],
    why: 'the places are then both undefined, and so the same',
  },
  {
    file: 'lib/snapshot/page/scan-response.ts',
    code: 'const end = isSought && found !== undefined',
    to: ['false'],
    why: 'the array is then read once more, up to the same end',
  },
  {
    file: 'lib/snapshot/page/value-at.ts',
    code: 'end - at === plain.length',
    to: ['true'],
    why: 'only faster: bytes that are more or fewer are not the same',
  },
  {
    file: 'lib/snapshot/page/value-at.ts',
    code: 'includes(BACKSLASH)',
    why: 'only faster: a text that is longer, or has no backslash, is not the expected one when it is parsed either',
  },
];
