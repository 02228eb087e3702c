import { summaryKey } from '../../jobs/texts/batch/batch.ts';
import { batchNames } from '../../jobs/texts/batch/batch-status.ts';
import { parsePart } from '../../jobs/texts/batch/part.ts';
import { parseJson } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { getBounded, MOST_LIST_BYTES, StoredObjectError } from '../../store/stored-json.ts';
import { type BatchFacts, MOST_LISTED } from '../facts.ts';
import { readAhead } from './ahead.ts';
import { damageIn } from './damage.ts';
import { createScoredRows } from './scored-rows.ts';
import { sentimentsOf } from './sentiments.ts';
import { listIn, type Members, membersOf, shownText, sizeIn, textIn } from './values.ts';

export type BatchesToRead = {
  readonly store: Store;
  /** When the last job of a batch ended, epoch milliseconds, as far as that is known. */
  readonly ends: ReadonlyMap<string, number>;
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

const MOST_TOPICS = 200;

/** The most parts that are read of one batch, and of all: the first of each, of 100 texts each. */
const MOST_PARTS = 1_000;
const MOST_OF_ALL = 3_000;

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
    try {
      const batch = await readBatch(name, room, options);
      if (batch !== undefined) found.push(batch);
    } catch (error) {
      addFault(`batch ${shownText(name)}: ${damageIn(error)}`);
    }
  }
  return found;
}

/** How many parts may still be read. */
type Room = { parts: number };

/** Undefined as long as it has no summary: it has not ended. */
async function readBatch(batch: string, room: Room, options: BatchesToRead): Promise<BatchFacts | undefined> {
  const { store, ends } = options;
  const key = summaryKey(batch);
  const stored = await getBounded(store, key, MOST_LIST_BYTES);
  if (stored === undefined) return undefined;
  const summary = membersIn(key, stored.body);
  const { overall, topics } = membersOf(summary['sentiments']);
  const named = Object.entries(membersOf(topics)).slice(0, MOST_TOPICS);
  const count = (name: string) => sizeIn(summary[name]) ?? 0;
  return {
    batch: shownText(batch),
    finishedAt: ends.get(batch),
    texts: count('rows'),
    scored: count('scored'),
    failed: count('failed') + count('bad'),
    cached: count('cached'),
    tokens: sizeIn(membersOf(summary['tokens'])['total']) ?? 0,
    topics:
      named.length === 0
        ? [{ topic: '', sentiments: sentimentsOf(membersOf(overall)) }]
        : named.map(([topic, counts]) => ({
            topic: shownText(topic),
            sentiments: sentimentsOf(membersOf(counts)),
          })),
    ...(await readParts(batch, summary, room, options)),
  };
}

function membersIn(key: string, body: Buffer): Members {
  try {
    const value = parseJson(body.toString());
    if (typeof value === 'object' && value !== null) return membersOf(value);
  } catch {
    // The same as any other value.
  }
  throw new StoredObjectError('invalid', `${key}: expected the summary of a batch, got something else`);
}

/** Reads the parts of a batch; of very many, the first. */
async function readParts(
  batch: string,
  summary: Members,
  room: Room,
  { store, addFault, signal }: BatchesToRead,
) {
  const keys = listIn(summary['parts']).flatMap((part) => textIn(membersOf(part)['key']) ?? []);
  const read = keys.slice(0, Math.min(MOST_PARTS, room.parts));
  room.parts -= read.length;
  const rows = createScoredRows();
  const faults: string[] = [];
  const parts = readAhead(read, async (key) => {
    signal.throwIfAborted();
    return readPart(store, key).catch(damageIn);
  });
  for await (const part of parts)
    if (typeof part === 'string') faults.push(part);
    else for (const row of part) rows.add(membersOf(row));
  const name = `batch ${shownText(batch)}`;
  if (faults.length > 0)
    addFault(`${name}: ${faults[0]}; ${faults.length} of its parts are not in the report`);
  return { isCut: read.length < keys.length, ...rows.facts() };
}

async function readPart(store: Store, key: string): Promise<readonly unknown[]> {
  const stored = await getBounded(store, key, MOST_LIST_BYTES);
  if (stored === undefined) throw new StoredObjectError('missing', `${key}: expected a part, got nothing`);
  return parsePart(key, stored.body);
}
