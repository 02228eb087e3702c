import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { forwardLines, LONGEST_LINE } from './log-lines.ts';

test('lines are passed on whole, however they were split on the way', async () => {
  const lines: string[] = [];

  const chunks = [Buffer.from('on'), Buffer.from('e\n\ntw\u00e9').subarray(0, -1), Buffer.from([0xa9])];
  await forwardLines(Readable.from(chunks, { objectMode: false }), (line) => lines.push(line));

  expect(lines).toEqual(['one', '', 'twé']);
});

test('an endless line is passed on in pieces as it arrives', async () => {
  const lengths: number[] = [];

  const chunks = Array.from({ length: 3 }, () => 'x'.repeat(LONGEST_LINE));
  await forwardLines(Readable.from(chunks, { objectMode: false }), (line) => lengths.push(line.length));

  expect(lengths).toEqual([LONGEST_LINE, LONGEST_LINE, LONGEST_LINE]);
});
