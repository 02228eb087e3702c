import { readAhead } from '../../base/index.ts';
import { batchNames, findSummary, readScores } from '../../jobs/texts/index.ts';
import { countsOf } from '../../model/rules/index.ts';
import { unlessDamaged } from '../../store/index.ts';
import { type BatchFacts, MAX_LISTED, type Sentiments } from '../facts.ts';
import { createCountedValues, createLargest } from './records.ts';
import { membersOf, type Reading, shownText, textIn } from './values.ts';

type BatchesToRead = Reading & {
  /** When the last job of each batch ended, in epoch milliseconds, if that is known. */
  readonly ends: ReadonlyMap<string, number>;
};

const MAX_TOPICS = 200;

/** How many parts (of 100 texts each) to read at most: from the start of one batch, and of all batches together. */
const MAX_PARTS = 1_000;
const MAX_PARTS_IN_TOTAL = 3_000;
const PARALLEL_READS = 16;

/** Reads the batches that have ended, latest first. Batches whose end is unknown come last, by name. */
export async function readBatches(options: BatchesToRead): Promise<readonly BatchFacts[]> {
  const { store, ends, addFault, signal } = options;
  const room = { parts: MAX_PARTS_IN_TOTAL };
  const names = (await batchNames(store)).toSorted(
    (a, b) => (ends.get(b) ?? 0) - (ends.get(a) ?? 0) || (a < b ? -1 : 1),
  );
  const found: BatchFacts[] = [];
  for (const name of names.slice(0, MAX_LISTED)) {
    signal.throwIfAborted();
    const orFault = unlessDamaged((fault) => addFault(`batch ${shownText(name)}: ${fault}`));
    found.push(...((await readBatch(name, room, options).catch(orFault)) ?? []));
  }
  return found;
}

/** Reads a batch, as a list of one; empty if it has no summary, since it has not ended. */
async function readBatch(
  batch: string,
  /** How many parts may still be read, for all batches together; it is reduced here. */
  room: { parts: number },
  options: BatchesToRead,
): Promise<readonly BatchFacts[]> {
  const summary = await findSummary(options.store, batch);
  if (summary === undefined) return [];
  const { sentiments, parts } = summary;
  const topics = Object.entries(sentiments.topics).slice(0, MAX_TOPICS);
  const all = topics.length === 0 ? [['', sentiments.overall] as const] : topics;
  const keys = parts.map(({ key }) => key);
  const read = keys.slice(0, Math.min(MAX_PARTS, room.parts));
  room.parts -= read.length;
  const facts: BatchFacts = {
    batch: shownText(batch),
    finishedAt: options.ends.get(batch),
    ...countsOf(summary),
    topics: all.map(([topic, counts]) => ({ topic: shownText(topic), sentiments: sentimentsOf(counts) })),
    isCut: read.length < keys.length,
    ...(await readParts(batch, read, options)),
  };
  return [facts];
}

/** The counts by sentiment, from a summary. */
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
  const read = (key: string) => readScores(store, key).catch(orFault);
  for await (const part of readAhead({ items, read, concurrency: PARALLEL_READS, signal }))
    for (const row of part ?? []) rows.add(row);
  if (faults.length > 0)
    addFault(`batch ${shownText(batch)}: ${faults[0]}; ${faults.length} of its parts are not in the report`);
  return rows.facts();
}

type ScoredRow = Awaited<ReturnType<typeof readScores>>[number];

const MAX_IDS = 100;

/** Collects, from the rows of a batch, the facts that its summary lacks. */
function createScoredRows() {
  const negative = createLargest<BatchFacts['mostNegative'][number]>(MAX_IDS);
  const failures: BatchFacts['failures'][number][] = [];
  const days = createDays();
  return {
    add(row: ScoredRow) {
      const id = shownText(row.id ?? `line ${row.line}`);
      if (row.error !== undefined && row.outcome !== 'bad' && failures.length < MAX_IDS)
        failures.push({ id, reason: shownText(row.error) });
      const sentiments = sentimentsIn(row);
      days.add(row.date, Object.values(sentiments));
      const topics = Object.keys(sentiments).filter((topic) => sentiments[topic] === 'negative');
      if (topics.length > 0 && negative.mayAdd(topics.length)) {
        const shown = topics.slice(0, MAX_IDS).map((topic) => shownText(topic));
        negative.add(topics.length, { id, topics: shown });
      }
    },
    facts: (): Pick<BatchFacts, 'overTime' | 'mostNegative' | 'failures'> => ({
      overTime: days.facts(),
      mostNegative: negative.values(),
      failures,
    }),
  };
}

/** The sentiments of a row by topic. Without topics, the sentiment of the whole text has the topic ''. */
function sentimentsIn({ topicSentiments, sentiment }: ScoredRow): Readonly<Record<string, Name>> {
  const named = Object.entries(membersOf(topicSentiments)).filter(([, value]) => textIn(value) !== undefined);
  const all = named.length > 0 || textIn(sentiment) === undefined ? named : [['', sentiment] as const];
  return Object.fromEntries(all.map(([topic, value]) => [topic, sentimentName(String(value))]));
}

const MAX_DAYS = 4_000;
/** The share of rows that must have a date for `overTime`. */
const MIN_DATED_SHARE = 0.9;

/** Counts sentiments by day, for rows that have dates. */
function createDays() {
  const days = new Map<string, SentimentCounts>();
  const columns = createCountedValues();
  let rows = 0;
  let dates = 0;
  return {
    add(date: ScoredRow['date'], sentiments: readonly Name[]) {
      rows += 1;
      if (date === undefined) return;
      dates += 1;
      columns.add(date.column);
      const counts = days.get(date.day) ?? noSentiments();
      if (days.size < MAX_DAYS) days.set(date.day, counts);
      for (const sentiment of sentiments) counts[sentiment] += 1;
    },
    facts(): BatchFacts['overTime'] {
      const [best] = columns.counts().values;
      if (best === undefined || dates < MIN_DATED_SHARE * rows) return undefined;
      const sorted = [...days].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return {
        column: shownText(best[0]),
        days: sorted.map(([day, sentiments]) => ({ day, sentiments })),
      };
    },
  };
}

type Name = keyof Sentiments;

type SentimentCounts = { -readonly [N in Name]: number };

const noSentiments = (): SentimentCounts => ({
  positive: 0,
  negative: 0,
  neutral: 0,
  not_applicable: 0,
  other: 0,
});

/** The name under which a sentiment is counted. */
function sentimentName(sentiment: string): Name {
  return Object.hasOwn(noSentiments(), sentiment) ? (sentiment as Name) : 'other';
}
