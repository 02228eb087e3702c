import { randomUUID } from 'node:crypto';
import type { RowKey, StoredRow, Table } from '../../table/index.ts';
import { fromRow, type Holder, type JobRow, toRow } from './job-row.ts';
import type { Ledger, SentAnswer } from './ledger.ts';
import {
  type Decision,
  decideAnnounce,
  decideCancel,
  decideClaim,
  decideEnd,
  decideRelease,
  decideRenew,
  decideReopen,
  decideResolve,
  decideSent,
  type LateOutcome,
  sentInTime,
} from './transitions.ts';

export type LedgerOptions = {
  readonly table: Table;
  /** Epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Whether `now` is the table's time already; a response of the table may make it so. Default: it always is. */
  readonly isTimeKnown?: () => boolean;
  /** A token that no earlier write had. Default: a random UUID. */
  readonly newToken?: () => string;
  /** How long a row stays after its last write. Default: 30 days. */
  readonly expireAfterMs?: number;
};

/**
 * The ledger over a table: one row per job, changed by one conditional write per step. The steps of a holder cost no
 * reads, and neither does the claim of a new job.
 */
export function createLedger(options: LedgerOptions): Ledger {
  const { table, now = Date.now, newToken = randomUUID } = options;
  const { read, step } = createSteps(options);

  return {
    now,
    newName: newToken,
    setTime: createSetTime(read, options),
    announce: (request) => step(request.id, (row) => decideAnnounce(row, request, now()), { isNew: true }),
    claim: async (request, { isNew = false, findOutcome, onTry, ...facts }) => {
      let late: LateOutcome | undefined;
      const decide = (row: JobRow | undefined) => {
        const decision = decideClaim(row, request, { ...facts, late, nowMs: now() });
        if (decision.answer.kind === 'claimed') onTry?.(decision.answer.claim);
        return decision;
      };
      for (;;) {
        const answer = await step(request.id, decide, { isNew: isNew && late === undefined });
        if (answer.kind !== 'look') return answer;
        late = { sent: answer.sent, outcome: await findOutcome?.(answer.sent) };
      }
    },
    sent: async (holder, { mustLastMs }): Promise<SentAnswer> => {
      const decide = (row: JobRow | undefined) => decideSent(row, holder, { mustLastMs, nowMs: now() });
      const answer = await step(holder.id, decide, { holder });
      return answer.kind === 'sent' ? sentInTime(answer.claim, { mustLastMs, nowMs: now() }) : answer;
    },
    renew: (holder, leaseMs) =>
      step(holder.id, (row) => decideRenew(row, holder, { leaseMs, nowMs: now() }), { holder }),
    release: (holder, options = {}) =>
      step(holder.id, (row) => decideRelease(row, holder, { ...options, nowMs: now() }), { holder }),
    end: async (holder, outcome) => {
      // In the form in which it will be read, so that a repeated outcome is recognized.
      const plain = JSON.parse(JSON.stringify(outcome));
      return step(holder.id, (row) => decideEnd(row, holder, { outcome: plain, nowMs: now() }), { holder });
    },
    read: async (id) => (await read(id))?.row,
    cancel: (id, options = {}) => step(id, (row) => decideCancel(row, { id, nowMs: now(), ...options })),
    reopen: (id, options = {}) => step(id, (row) => decideReopen(row, options)),
    resolve: (id, resolution) => step(id, (row) => decideResolve(row, { ...resolution, nowMs: now() })),
    async *list() {
      for await (const { row } of table.scan(PARTITION_PREFIX)) yield fromRow(row);
    },
  };
}

/** A clock that is off is set by three responses. Where they do not say the time, the clock here is used after them. */
function createSetTime(
  read: (id: string) => Promise<unknown>,
  { isTimeKnown = () => true }: LedgerOptions,
): Ledger['setTime'] {
  let isDateless = false;
  return async () => {
    if (isDateless || isTimeKnown()) return;
    for (let tries = 0; tries < 3 && !isTimeKnown(); tries += 1) await read(NOTHING);
    isDateless = !isTimeKnown();
  };
}

/** A row, and the token of the write that stored it. */
type FoundRow = { readonly row: JobRow; readonly token: string };

type StepOptions = {
  /** Whose step it is: the row that the holder stored last is taken for the current one. */
  readonly holder?: Holder;
  /** Whether the job most likely has no row yet. */
  readonly isNew?: boolean;
};

/**
 * Takes steps of jobs: each decides from the job's row, and writes what was decided over that row.
 *
 * The row is not read if it is known: a holder stored it, or nobody has yet. That is safe, although others may have
 * changed it since, because a write succeeds only over the very row that it was decided from. A decision from a
 * remembered row that writes nothing is made again from the row that is there. After a lost race the step is decided
 * again from the row that won: each retry is somebody else's progress.
 */
function createSteps({
  table,
  now = Date.now,
  newToken = randomUUID,
  expireAfterMs = 30 * 24 * 60 * 60 * 1_000,
}: LedgerOptions) {
  const remembered = new WeakMap<Holder, FoundRow>();

  const read = async (id: string) => toFound(await table.get(keyOf(id)));

  const step = async <Answer>(
    id: string,
    decide: (row: JobRow | undefined) => Decision<Answer>,
    { holder, isNew = false }: StepOptions = {},
  ): Promise<Answer> => {
    const known = holder && remembered.get(holder);
    let isCurrent = known === undefined && !isNew;
    let found = isCurrent ? await read(id) : known;
    for (;;) {
      const { write: row, answer } = decide(found?.row);
      if (row !== undefined) {
        const [token, expiresAtMs] = [newToken(), now() + expireAfterMs];
        const condition = { expected: found?.token ?? null, token, expiresAtMs };
        const written = await table.put(keyOf(id), toRow(row), condition);
        if (written.kind === 'stored') {
          // The answer holds the row that was written: it proves a claim as well as the holder does.
          for (const each of [row, holder]) if (each) remembered.set(each, { row, token });
          return answer;
        }
        found = toFound(written.current);
      } else if (isCurrent) {
        return answer;
      } else {
        found = await read(id);
      }
      isCurrent = true;
    }
  };

  return { read, step };
}

const toFound = (stored: StoredRow | undefined): FoundRow | undefined =>
  stored && { row: fromRow(stored.row), token: stored.token };

const PARTITION_PREFIX = 'job#';

/** A name that no job has: nothing is there. */
const NOTHING = '-';

const keyOf = (id: string): RowKey => ({ partition: `${PARTITION_PREFIX}${id}`, sort: '-' });
