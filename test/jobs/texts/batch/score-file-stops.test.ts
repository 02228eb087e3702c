import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { reopenChunk } from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import { scoreFile } from '../../../../lib/jobs/texts/batch/score-file.ts';
import type { Analyze } from '../../../../lib/jobs/texts/scoring/scoring-session.ts';
import { lost, refusedText, row, scriptedAnalyze, sentimentOf, unreached } from '../fakes.ts';
import { batchOf, partLines, type World, world } from './batch-suite.ts';

const optionsOf = ({ split, scoring }: World) => ({ ...split, ...scoring });
const always = <T>(failure: T): readonly T[] => Array.from({ length: 100 }, () => failure);
/** The pauses between the nine calls of one try. */
const RETRIES = [125, 250, 500, 1_000, 2_000, 4_000, 8_000, 10_000];
/** All pauses of three tries: between tries, half of 4 s and half of 8 s. */
const PAUSES = [...RETRIES, 2_000, ...RETRIES, 4_000, ...RETRIES];

test('a text that fails three times while others succeed fails only its row', async () => {
  const one = world({}, scriptedAnalyze({ bad: always(lost) }));

  const scored = await scoreFile(batchOf([row(1, 'good'), row(2, 'bad')]), optionsOf(one));

  expect(scored).toMatchObject({ summary: { scored: 1, failed: 1, calls: 28 } });
  expect(one.slept).toEqual(PAUSES);
});

test('texts that fail three times stop the file if none succeeded, since the cause may not be the texts', async () => {
  const one = world({}, scriptedAnalyze({ bad: always(lost) }));

  await expect(scoreFile(batchOf([row(1, 'bad')]), optionsOf(one))).rejects.toMatchObject({ failure: lost });

  expect(one.slept).toEqual(PAUSES);
  expect(partLines(one.store)).toEqual([]);
});

test('a text whose calls never left stops the file, since the text is not the cause', async () => {
  const one = world({}, scriptedAnalyze({ bad: always(unreached) }));

  const scored = scoreFile(batchOf([row(1, 'good'), row(2, 'bad')]), optionsOf(one));

  await expect(scored).rejects.toMatchObject({ failure: unreached });
  expect(one.slept).toEqual(PAUSES);
});

test('after a chunk has failed, no other chunk starts, and running chunks end', async () => {
  const rows = Array.from({ length: 300 }, (_, at) => row(at + 1, `${at < 100 ? 'bad' : 'good'} ${at}`));
  const refused = { kind: 'status', status: 401 } as const;
  const script = Object.fromEntries(
    rows.map((each) => ['text' in each ? each.text : '', always(refused)]).slice(0, 100),
  );
  const one = world({}, scriptedAnalyze(script));

  const scored = scoreFile(batchOf(rows), { ...optionsOf(one), concurrentChunks: 2 });

  await expect(scored).rejects.toMatchObject({ failure: refused });
  expect(partLines(one.store)).toHaveLength(100);
  expect(one.paid).toContain('good 199');
  expect(one.paid).not.toContain('good 200');
});

test('concurrent chunks share their slots fairly', async () => {
  let [waiting, max] = [0, 0];
  const analyze: Analyze = async (request, { beforeSend, onSend } = {}) => {
    waiting += 1;
    max = Math.max(max, waiting);
    await setImmediate();
    waiting -= 1;
    await beforeSend?.();
    onSend?.();
    return sentimentOf(request);
  };
  const one = world({}, { analyze, paid: [] });
  const rows = Array.from({ length: 200 }, (_, at) => row(at + 1, `good ${at}`));

  await scoreFile(batchOf(rows), { ...optionsOf(one), concurrentChunks: 2 });

  expect(max).toBe(2);
});

test('a chunk that is reopened in the meantime is reported, and does not count as scored', async () => {
  const one = world({}, scriptedAnalyze({ bad: [refusedText] }));
  let reopened: Promise<unknown> = Promise.resolve();
  const table: World['table'] = {
    ...one.table,
    async *list(partition) {
      await reopened;
      yield* one.table.list(partition);
    },
  };
  const progress = () => {
    reopened = reopenChunk({ batch: 'b1', chunk: 0 }, one.storage);
  };

  const scored = scoreFile(batchOf([row(1, 'good'), row(2, 'bad')]), { ...optionsOf(one), table, progress });

  await expect(scored).rejects.toThrow(
    'batch b1 is not complete: while it was scored, a redrive returned some of its 1 chunks',
  );
});

/** 400 rows in four chunks. The platform rejects the texts of the lines `from` to `to`. */
function withRefused(from: number, to: number) {
  const rows = Array.from({ length: 400 }, (_, at) => row(at + 1, `text ${at + 1}`));
  const status = [400, 402, 409, 413, 422, 451];
  const script = Object.fromEntries(
    rows
      .slice(from - 1, to)
      .map(({ line }) => [
        `text ${line}`,
        always({ kind: 'status', status: status[line % status.length] ?? 400 } as const),
      ]),
  );
  const { analyze, paid } = scriptedAnalyze(script);
  let calls = 0;
  const counted: Analyze = (...given) => {
    calls += 1;
    return analyze(...given);
  };
  const one = world({}, { analyze: counted, paid });
  const score = () => scoreFile(batchOf(rows), { ...optionsOf(one), concurrentChunks: 1, concurrency: 1 });
  return { one, score, calls: () => calls };
}

test('after a first success, ninety refused texts in a row fail only their own rows and do not stop the file', async () => {
  const { score } = withRefused(150, 239);

  expect(await score()).toMatchObject({ summary: { scored: 310, failed: 90 } });
});

test('ten refused texts at the start stop the file', async () => {
  const { score, calls } = withRefused(1, 400);

  await expect(score()).rejects.toMatchObject({ failure: { kind: 'status' } });
  expect(calls()).toBe(10);
});

test('once the platform refuses every text, the file stops after a hundred, over all chunks', async () => {
  const { one, score, calls } = withRefused(151, 400);

  await expect(score()).rejects.toMatchObject({ failure: { kind: 'status' } });
  expect(calls()).toBe(250);
  expect(partLines(one.store)).toHaveLength(200);
});

test('a resumed batch remembers that its request was accepted before', async () => {
  const { score, calls } = withRefused(151, 400);
  await expect(score()).rejects.toThrow();
  const before = calls();

  await expect(score()).rejects.toThrow();

  expect(calls() - before).toBe(100);
});
