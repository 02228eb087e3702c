import type { Logger } from 'pino';
import * as z from 'zod/mini';
import { messageOf, once } from '../base/index.ts';
import { findStored, keySegment, MOST_LIST_BYTES, type Store, StoredObjectError } from '../store/index.ts';
import { type Claim, type Outcome, outcomeSchema } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { EndAnswer, SentBy } from './ledger/transitions.ts';
import { type PersistOptions, persist } from './persist.ts';
import { stagedOutcome } from './result.ts';

type RecordParts = Omit<PersistOptions, 'onTrouble'> & {
  readonly ledger: Pick<Ledger, 'end'>;
  readonly store: Store;
  readonly logger: Logger;
};

/**
 * Records how a job ended: what came back is paid for, and nobody can ask for it again. It is tried until
 * the time is over. After the first failure, or if the ledger is slow to respond, the outcome is staged in the store
 * besides, for as long: whoever takes the job over finds it there (`findLateOutcome`). Throws if the ledger could not be
 * reached until the end; the message must not be acknowledged then.
 */
export async function recordEnd(claim: Claim, given: Outcome, parts: RecordParts): Promise<EndAnswer> {
  const outcome = withShortError(given);
  const { ledger, store, logger } = parts;
  const { id } = claim;
  const held = once(() => stagedOutcome(store, claim, outcome));
  let staging: Promise<void> | undefined;
  const stage = async () => {
    try {
      await persist(async () => stageLateOutcome(store, claim, await held()), parts);
      logger.info({ job: id }, 'outcome staged in the store');
    } catch (err) {
      logger.error({ job: id, err }, 'outcome not staged');
    }
  };
  try {
    const answer = await persist(async () => ledger.end(claim, await held()), {
      ...parts,
      onTrouble(err) {
        logger.warn({ job: id, err }, 'outcome not recorded yet');
        staging ??= stage();
      },
    });
    if (answer.kind === 'called-unknown')
      await persist(async () => stageLateOutcome(store, claim, await held()), parts);
    return answer;
  } catch (error) {
    await staging;
    throw error;
  }
}

/** A row of the ledger has room for the text of an error, whoever threw it. */
const withShortError = ({ error, ...outcome }: Outcome): Outcome =>
  error === undefined ? outcome : { ...outcome, error: { ...error, message: messageOf(error.message) } };

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
