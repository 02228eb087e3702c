import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { forwardLines, longestLine } from '../../../../lib/sandbox/aws/functions/log-lines.ts';

test('lines are handed over whole, however they were cut on their way', async () => {
  const lines: string[] = [];

  const chunks = [Buffer.from('on'), Buffer.from('e\n\ntw\u00e9').subarray(0, -1), Buffer.from([0xa9])];
  await forwardLines(Readable.from(chunks, { objectMode: false }), (line) => lines.push(line));

  expect(lines).toEqual(['one', '', 'twé']);
});

test('a line without an end is handed over in pieces as it comes', async () => {
  const lengths: number[] = [];

  const chunks = Array.from({ length: 3 }, () => 'x'.repeat(longestLine));
  await forwardLines(Readable.from(chunks, { objectMode: false }), (line) => lengths.push(line.length));

  expect(lengths).toEqual([longestLine, longestLine, longestLine]);
});
