import type { Scheduler } from 'fast-check';
import type { BatchRequest } from '../../../../lib/jobs/texts/batch/check-batch.ts';
import { parsePart, type ScoredRow } from '../../../../lib/jobs/texts/batch/chunk-objects.ts';
import { scoreChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import type { ScoreJob } from '../../../../lib/jobs/types/score/message.ts';
import type { Store } from '../../../../lib/store/store.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { createMemoryStore, type MemoryStore } from '../../../store/memory-store.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import type { InputRow } from '../fakes.ts';
import { HOST, row, rowsOf, scriptedAnalyze, worker } from '../fakes.ts';

type SplitOptions = Parameters<typeof splitBatch>[1];

export const TOPICS = { topics: [{ topic: 'Price' }, { topic: 'Service' }] };

/** 230 rows: every third text is good, each text occurs twice, every 50th row is bad. */
export const mixedRows: readonly InputRow[] = Array.from({ length: 230 }, (_, index) =>
  index % 50 === 49
    ? { line: index + 1, fault: 'no text' }
    : row(index + 1, `${index % 3 === 0 ? 'good' : 'bad'} ${index % 115}`),
);

export const batchOf = (
  rows: readonly InputRow[],
  differences: Partial<BatchRequest> = {},
): BatchRequest => ({ batch: 'b1', request: {}, rows: rowsOf(rows), host: HOST, ...differences });

export type World = ReturnType<typeof world>;

/** A store, a table, a worker over both, and the messages that were sent. */
export function world(
  {
    store = createMemoryStore(),
    table = createMemoryTable(),
    owner = 'worker-1',
  }: { readonly store?: MemoryStore; readonly table?: Table; readonly owner?: string } = {},
  { analyze, paid } = scriptedAnalyze(),
) {
  const messages: ScoreJob[] = [];
  const { options: scoring, newToken, slept } = worker(analyze, table, owner);
  const storage = { store: store as Store, table, newToken, now: scoring.now };
  const split: SplitOptions = {
    ...storage,
    cache: scoring.cache,
    rate: 2,
    send: async (sent) => {
      messages.push(...sent);
    },
  };
  return { store, table, storage, messages, scoring, split, paid, slept };
}

type Call = readonly [on: 'store' | 'table', name: 'get' | 'put' | 'delete', key: RegExp];

/** The world's storage; `act` is called once, just before the first call that matches. */
export function before(
  { storage }: Pick<World, 'storage'>,
  [on, name, pattern]: Call,
  act: () => Promise<unknown>,
): World['storage'] {
  let pending = true;
  const call = storage[on][name] as (...given: readonly unknown[]) => Promise<unknown>;
  const watched = async (...given: readonly unknown[]) => {
    if (pending && pattern.test(JSON.stringify(given[0]))) {
      pending = false;
      await act();
    }
    return call(...given);
  };
  return { ...storage, [on]: { ...storage[on], [name]: watched } };
}

/** The world's storage, with its operations in the order of a scheduler. */
export function scheduled({ storage }: Pick<World, 'storage'>, scheduler: Scheduler): World['storage'] {
  const { store, table } = storage;
  return {
    ...storage,
    store: {
      ...store,
      get: scheduler.scheduleFunction(store.get),
      put: scheduler.scheduleFunction(store.put),
      delete: scheduler.scheduleFunction(store.delete),
    },
    table: {
      ...table,
      get: scheduler.scheduleFunction(table.get),
      getAll: scheduler.scheduleFunction(table.getAll),
      put: scheduler.scheduleFunction(table.put),
    },
  };
}

/** Splits a batch and scores its jobs one after another. Throws the error that stops one. */
export async function runBatch(request: BatchRequest, { split, messages, scoring, storage }: World) {
  const outcome = await splitBatch(request, split);
  for (const message of messages) {
    const scored = await scoreChunk(message, { ...scoring, ...storage });
    if (scored.kind === 'stopped') throw scored.error;
  }
  return outcome;
}

/** The keys in the store with this prefix. */
export const keysOf = ({ store }: World, prefix: string) =>
  [...store.objects.keys()].filter((key) => key.startsWith(prefix));

/** The lines of all parts of a batch, in the order of their chunks. */
export const partLines = (store: World['store'], batch = 'b1'): readonly ScoredRow[] =>
  [...store.objects]
    .toSorted()
    .filter(([key]) => key.startsWith(`scores/${batch}/part-`))
    .flatMap(([key, body]) => [...parsePart(key, body)]);

/** Replaces in a text the keys of parts by keys without the token of the chunk's row, which differs in each run. */
const withoutState = (text: string) => text.replaceAll(/(part-\d+-)[0-9a-f]{8}-/g, '$1');

/** The parts and the summary of a batch, by key. */
export const resultsOf = (store: World['store']): Record<string, string> =>
  Object.fromEntries(
    [...store.objects]
      .toSorted()
      .filter(([key]) => key.startsWith('scores/b1/'))
      .map(([key, body]) => [withoutState(key), withoutState(body.toString('latin1'))]),
  );

export const summaryOf = (store: World['store'], batch = 'b1') =>
  JSON.parse(store.objects.get(`scores/${batch}/_summary.json`)?.toString() ?? 'null');
