import * as z from 'zod/mini';
import { findStored, keySegment, MOST_LIST_BYTES, type Store, StoredObjectError } from '../store/index.ts';
import type { Outcome } from './ledger/job-row.ts';
import { outcomeSchema } from './ledger/job-row.ts';
import type { SentBy } from './ledger/ledger.ts';

/** Where the outcome of a send waits if the ledger could not store it. */
const lateKey = ({ id, createdAt, fence }: SentBy) =>
  `work/outcomes/${keySegment(id)}/late-${createdAt}-${fence}.json`;

/** Stages the outcome of a send. The bytes are the same each time. */
export async function stageLateOutcome(store: Store, sent: SentBy, outcome: Outcome): Promise<void> {
  const body = Buffer.from(`${JSON.stringify({ version: 1, outcome })}\n`);
  await store.put(lateKey(sent), body, { contentType: 'application/json' });
}

/** The staged outcome of a send; undefined if there is none, or something else is there. */
export async function findLateOutcome(store: Store, sent: SentBy): Promise<Outcome | undefined> {
  try {
    return (await findStored(store, lateKey(sent), lateSchema, MOST_LIST_BYTES))?.value.outcome;
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

const lateSchema = z.object({ version: z.literal(1), outcome: outcomeSchema });
