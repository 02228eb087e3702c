import { expect, test } from 'vitest';
import {
  type Judgement,
  type ReadEnd,
  type RereadPosition,
  rereading,
} from '../../../lib/snapshot/sources/rereading.ts';
import { fromBeginning } from '../scanned.ts';
import { simulatedBatch } from '../simulated-platform.ts';

type Position = RereadPosition<string, string>;

/** What each read yields in turn: numbers of records. An error ends the read. */
type Script = readonly (readonly (number | Error)[])[];

type Options = {
  readonly judge?: (end: ReadEnd<string, string>) => Judgement<{ found: string }, string>;
};

const ended: Judgement<{ found: string }, string> = { kind: 'ended', outcome: { found: 'done' } };
const again = (memo: string | null): Judgement<{ found: string }, string> => ({ kind: 'again', memo });

/** A scan whose reads follow a script, and the arguments of its reads and its judge. */
function scripted(script: Script, { judge = () => ended }: Options = {}) {
  const starts: unknown[] = [];
  const ends: ReadEnd<string, string>[] = [];
  let stopped = 0;
  const scan = rereading<string, string, { found: string }, string>({
    async *read({ from }, isLast) {
      starts.push([from, isLast]);
      try {
        for (const each of script[starts.length - 1] ?? []) {
          if (typeof each !== 'number') throw each;
          const batch = simulatedBatch(Array.from({ length: each }, (_, id) => id));
          yield { batch, position: `after ${each}`, total: 7 };
        }
        return `result ${starts.length}`;
      } finally {
        stopped += 1;
      }
    },
    judge(end) {
      ends.push(end);
      return judge(end);
    },
  });
  return { starts, ends, scan, stopped: () => stopped };
}

async function run(
  { scan }: ReturnType<typeof scripted>,
  { from, signal }: { readonly from?: Position; readonly signal?: AbortSignal } = {},
) {
  const steps: object[] = [];
  const all = scan({ ...fromBeginning, from, signal });
  for (;;) {
    const { done, value } = await all.next();
    if (done) return { steps, outcome: value };
    const { batch, ...step } = value;
    steps.push({ ...step, batch: batch.records });
  }
}

const at = (read: number, records: number, position: string | null, memo: string | null = null) => ({
  read,
  records,
  at: position,
  memo,
});

test('a doubtful read is repeated from the beginning, at most twice, with what the judge stored about it', async () => {
  const reads = scripted([[2], [3], [4]], {
    judge: ({ isLast, result }) => (isLast ? ended : again(`memo of ${result}`)),
  });

  const { steps, outcome } = await run(reads);

  expect(outcome).toEqual({ found: 'done', passes: 3 });
  expect(reads.starts).toEqual([
    [undefined, false],
    [undefined, false],
    [undefined, true],
  ]);
  expect(reads.ends).toEqual([
    { result: 'result 1', records: 2, isLast: false, memo: null },
    { result: 'result 2', records: 3, isLast: false, memo: 'memo of result 1' },
    { result: 'result 3', records: 4, isLast: true, memo: 'memo of result 2' },
  ]);
  expect(steps).toEqual([
    { batch: 2, total: 7, position: at(1, 2, 'after 2') },
    { batch: 0, total: null, position: at(2, 0, null, 'memo of result 1'), segment: 'restarts' },
    { batch: 3, total: 7, position: at(2, 3, 'after 3', 'memo of result 1') },
    { batch: 0, total: null, position: at(3, 0, null, 'memo of result 2'), segment: 'restarts' },
    { batch: 4, total: 7, position: at(3, 4, 'after 4', 'memo of result 2') },
  ]);
});

test('a doubtful read that found nothing drops nothing: the records before it belong to other reads', async () => {
  const reads = scripted([[], [3]], { judge: ({ records }) => (records > 0 ? ended : again(null)) });

  const { steps } = await run(reads);

  expect(steps).toEqual([
    { batch: 0, total: null, position: at(2, 0, null) },
    { batch: 3, total: 7, position: at(2, 3, 'after 3') },
  ]);
});

test('rereading can be resumed within a read, and before one', async () => {
  const within = scripted([[3]], { judge: ({ isLast }) => (isLast ? ended : again('next')) });
  const before = scripted([[3]]);

  await run(within, { from: at(2, 4, 'after 4', 'memo') });
  await run(before, { from: at(3, 0, null) });

  expect(within.starts).toEqual([
    ['after 4', false],
    [undefined, true],
  ]);
  expect(within.ends[0]).toEqual({ result: 'result 1', records: 7, isLast: false, memo: 'memo' });
  expect(before.starts).toEqual([[undefined, true]]);
});

test('a failure of a read is thrown', async () => {
  const fault = new Error('fault');

  await expect(run(scripted([[2, fault], []]))).rejects.toThrow(fault);
});

test('no further read begins once the scan is aborted', async () => {
  const stop = new AbortController();
  const reads = scripted([[1], [1]], {
    judge() {
      stop.abort(new Error('enough'));
      return again(null);
    },
  });

  await expect(run(reads, { signal: stop.signal })).rejects.toThrow('enough');
  expect(reads.starts).toHaveLength(1);
});

test('a caller that stops early ends the read', async () => {
  const reads = scripted([[1, 1]]);

  for await (const _ of reads.scan({ ...fromBeginning })) break;

  expect(reads.stopped()).toBe(1);
});
