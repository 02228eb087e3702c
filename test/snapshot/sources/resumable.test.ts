import { expect, test } from 'vitest';
import { emptyBatch } from '../../../lib/snapshot/page/record-fields.ts';
import { fanOut, fanOutPosition } from '../../../lib/snapshot/sources/fan-out.ts';
import { resumable } from '../../../lib/snapshot/sources/source-definition.ts';
import { fromBeginning } from '../scanned.ts';

test('a scan does not start from an invalid position, and the error says what is wrong', () => {
  const none = fanOut({ ids: [], read: async () => emptyBatch, total: 0 });
  const scan = resumable(none, fanOutPosition);

  expect(() => scan({ ...fromBeginning, from: { next: 'two', records: 1, missing: 0 } })).toThrow(
    'the position of a checkpoint: next: expected a number, got "two"',
  );
});

test('a scan starts at its beginning, or from the position that was stored', async () => {
  const read: string[] = [];
  const all = fanOut({
    ids: ['a', 'b'],
    total: 2,
    async read(id) {
      read.push(id);
      return emptyBatch;
    },
  });
  const scan = resumable(all, fanOutPosition);

  for await (const _ of scan(fromBeginning));
  for await (const _ of scan({ ...fromBeginning, from: { next: 1, records: 0, missing: 0 } }));

  expect(read).toEqual(['a', 'b', 'b']);
});
