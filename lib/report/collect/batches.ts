import { findSummary } from '../../jobs/results/summary.ts';
import { summaryKey } from '../../jobs/texts/batch/batch.ts';
import { batchNames } from '../../jobs/texts/batch/batch-status.ts';
import { parsePart } from '../../jobs/texts/batch/chunk-objects.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import { type Store, StoredObjectError, unlessDamaged } from '../../store/index.ts';
import { type BatchFacts, MOST_LISTED, type Sentiments } from '../facts.ts';
import { createScoredRows, noSentiments, sentimentName } from './scored-rows.ts';
import { membersOf, type Reading, shownText } from './values.ts';

type BatchesToRead = Reading & {
  /** When the last job of a batch ended, epoch milliseconds, as far as that is known. */
  readonly ends: ReadonlyMap<string, number>;
};

const MOST_TOPICS = 200;

/** The most parts that are read of one batch, and of all: the first of each, of 100 texts each. */
const MOST_PARTS = 1_000;
const MOST_OF_ALL = 3_000;
const AT_ONCE = 16;

/** The batches that have ended, the latest first as far as that is known, then by their names. */
export async function readBatches(options: BatchesToRead): Promise<readonly BatchFacts[]> {
  const { store, ends, addFault, signal } = options;
  const room = { parts: MOST_OF_ALL };
  const names = (await batchNames(store)).toSorted(
    (a, b) => (ends.get(b) ?? 0) - (ends.get(a) ?? 0) || (a < b ? -1 : 1),
  );
  const found: BatchFacts[] = [];
  for (const name of names.slice(0, MOST_LISTED)) {
    signal.throwIfAborted();
    const orFault = unlessDamaged((fault) => addFault(`batch ${shownText(name)}: ${fault}`));
    found.push(...((await readBatch(name, room, options).catch(orFault)) ?? []));
  }
  return found;
}

/** How many parts may still be read. */
type Room = { parts: number };

/** None as long as it has no summary: it has not ended. */
async function readBatch(batch: string, room: Room, options: BatchesToRead): Promise<readonly BatchFacts[]> {
  const summary = await findSummary(options.store, summaryKey(batch));
  if (summary === undefined) return [];
  const { rows, scored, failed, bad, cached, tokens, sentiments, parts } = summary;
  const topics = Object.entries(sentiments.topics).slice(0, MOST_TOPICS);
  const all = topics.length === 0 ? [['', sentiments.overall] as const] : topics;
  const keys = parts.map(({ key }) => key);
  const read = keys.slice(0, Math.min(MOST_PARTS, room.parts));
  room.parts -= read.length;
  const facts: BatchFacts = {
    ...{ batch: shownText(batch), finishedAt: options.ends.get(batch) },
    ...{ texts: rows, scored, failed: failed + bad, cached, tokens: tokens.total },
    topics: all.map(([topic, counts]) => ({ topic: shownText(topic), sentiments: sentimentsOf(counts) })),
    isCut: read.length < keys.length,
    ...(await readParts(batch, read, options)),
  };
  return [facts];
}

/** Counts by sentiment, as a summary has them. */
function sentimentsOf(counts: Readonly<Record<string, number>>): Sentiments {
  const sum = noSentiments();
  for (const [sentiment, count] of Object.entries(counts)) sum[sentimentName(sentiment)] += count;
  return sum;
}

async function readParts(
  batch: string,
  items: readonly string[],
  { store, addFault, signal }: BatchesToRead,
) {
  const rows = createScoredRows();
  const faults: string[] = [];
  const orFault = unlessDamaged((fault) => faults.push(fault));
  const read = (key: string) => readPart(store, key).catch(orFault);
  for await (const part of readAhead({ items, read, concurrency: AT_ONCE, signal }))
    for (const row of part ?? []) rows.add(membersOf(row));
  if (faults.length > 0)
    addFault(`batch ${shownText(batch)}: ${faults[0]}; ${faults.length} of its parts are not in the report`);
  return rows.facts();
}

async function readPart(store: Store, key: string): Promise<readonly unknown[]> {
  const stored = await store.get(key);
  if (stored === undefined) throw new StoredObjectError('missing', `${key}: expected a part, got nothing`);
  return parsePart(key, stored.body);
}
