import { expect, test } from 'vitest';
import { emptyBatch } from '../../../lib/snapshot/page/record-batch.ts';
import { calculationPosition } from '../../../lib/snapshot/sources/calculations/scan.ts';
import { fanOut, fanOutPosition } from '../../../lib/snapshot/sources/fan-out.ts';
import { filesPosition } from '../../../lib/snapshot/sources/files/scan.ts';
import { resumable } from '../../../lib/snapshot/sources/resumable.ts';
import { fromBeginning } from '../scanned.ts';

const totals = { start: 3, end: null };
const counted = { next: 2, pages: 2, idle: 0, degraded: false, totals };

test.each([
  [
    'calculations by id',
    calculationPosition,
    {
      ...{ read: 2, records: 2, memo: null },
      at: { mode: 'id', at: { ...counted, target: '9', isExtended: true, last: '7', stepBack: 0, taken: 2 } },
    },
  ],
  [
    'calculations by creation',
    calculationPosition,
    {
      ...{ read: 1, records: 2, memo: null },
      at: {
        mode: 'created',
        at: { ...counted, target: 9, stepBack: 1, last: { created: 8, ids: ['7'] } },
      },
    },
  ],
  [
    'calculations in no order',
    calculationPosition,
    {
      ...{ read: 1, records: 2, memo: null },
      at: {
        mode: 'unordered',
        order: 'created',
        at: { ...counted, round: 2, isNew: true },
      },
    },
  ],
  [
    'files',
    filesPosition,
    {
      fileset: 1,
      at: {
        ...{ read: 2, records: 2, memo: 'digest' },
        at: {
          next: 'cursor',
          followed: 1,
          anchor: 'cursor',
          empty: 0,
          totals,
          repeats: 0,
          digest: '0f',
          isAscending: true,
          last: { createdMs: 1_790_000_000_000, key: 'fileset/file' },
        },
      },
      hasBegun: true,
      totals,
      claim: { consistency: 'proved', assumes: ['not-missed-twice'] },
      isAscending: false,
      passes: 2,
      missing: 1,
      cut: false,
    },
  ],
  ['a fan-out', fanOutPosition, { next: 2, records: 1, missing: 1 }],
])('a position of %s is read from a checkpoint as it was saved', (_of, schema, position) => {
  expect(schema.parse(JSON.parse(JSON.stringify(position)))).toEqual(position);
});

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
