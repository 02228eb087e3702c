import { expect, test } from 'vitest';
import { UnsentError } from '../../../../lib/jobs/queue/unsent-error.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/split-batch.ts';
import type { ScoreJob } from '../../../../lib/jobs/types/score/message.ts';
import { row } from '../fakes.ts';
import { batchOf, type World, world } from './batch-suite.ts';

/** 35 chunks, so four groups of messages. */
const rows = Array.from({ length: 3_450 }, (_, index) => row(index + 1, `good ${index}`));

/** A send that accepts everything but the given chunks. */
function refusing(chunks: readonly number[], code = 'InvalidMessageContents') {
  const sent: number[] = [];
  const groups: number[] = [];
  const cause = Object.assign(new Error('not accepted'), { name: code });
  const send = async (messages: readonly ScoreJob[]) => {
    groups.push(messages.length);
    const isRefused = ({ chunk = -1 }: ScoreJob) => chunks.includes(chunk);
    sent.push(...messages.flatMap((message) => (isRefused(message) ? [] : [message.chunk ?? -1])));
    const [first, ...others] = messages.flatMap((message, index) =>
      isRefused(message) ? [{ index, cause, mayBeSent: false }] : [],
    );
    if (first) throw new UnsentError('jobs', messages.length, [first, ...others]);
  };
  return { send, sent, groups, cause };
}

const header = ({ table }: World) => table.get({ partition: 'batch#b1', sort: '_header' });
const numbersWithout = (...left: readonly number[]) =>
  Array.from({ length: 35 }, (_, chunk) => chunk).filter((chunk) => !left.includes(chunk));

test('a chunk that cannot be sent stops no other; then the split fails, and names it', async () => {
  const one = world();
  const { send, sent, cause } = refusing([3, 24]);

  const split = splitBatch(batchOf(rows), { ...one.split, send });

  await expect(split).rejects.toMatchObject({
    name: 'UnsentChunksError',
    message:
      'batch b1: the messages of chunks 3, 24 were not sent, those of all others were; the first: InvalidMessageContents: not accepted. Split the batch again',
    cause,
  });
  expect(sent).toEqual(numbersWithout(3, 24));
  expect(await header(one)).toBeUndefined();
});

test('splitting again sends what is missing, and completes the batch', async () => {
  const one = world();
  await splitBatch(batchOf(rows), { ...one.split, send: refusing([3, 24]).send }).catch(() => undefined);
  const { send, sent } = refusing([]);

  const outcome = await splitBatch(batchOf(rows), { ...one.split, send });

  expect(outcome).toMatchObject({ kind: 'split', chunks: 35, rows: 3_450 });
  expect(sent).toEqual(expect.arrayContaining([3, 24]));
  expect(await header(one)).toMatchObject({ row: { chunks: 35 } });
});

test('many chunks that cannot be sent are counted, and the first are named', async () => {
  const { send } = refusing(numbersWithout(0));

  const split = splitBatch(batchOf(rows), { ...world().split, send });

  await expect(split).rejects.toThrow(/chunks 1, 2, .*, 20 and 14 more were not sent/);
});

test.for(['QueueDoesNotExist', 'AccessDenied', 'ECONNREFUSED', 'KmsDisabled'])(
  'a queue that cannot be used at all ends the split at once: %s',
  async (code) => {
    const { send, groups } = refusing([3], code);

    const split = splitBatch(batchOf(rows), { ...world().split, send });

    await expect(split).rejects.toThrow(`sent 9 of 10 messages, not number 4: ${code}`);
    expect(groups).toEqual([10]);
  },
);
