import { randomUUID } from 'node:crypto';
import type { RowKey, StoredRow, Table } from '../../table/index.ts';
import type { JobRow } from './job-row.ts';
import { fromRow, toRow } from './job-row.ts';
import type { Ledger, SentAnswer } from './ledger.ts';
import { createSteps, type FoundRow, type StepParts } from './steps.ts';
import {
  decideAnnounce,
  decideCancel,
  decideClaim,
  decideEnd,
  decideRelease,
  decideRenew,
  decideReopen,
  decideResolve,
  decideSent,
  decideTakeBack,
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
  const parts = rowsOf(options);
  const step = createSteps(parts);

  return {
    now,
    newName: newToken,
    setTime: createSetTime(parts, options),
    announce: (request) => step(request.id, (row) => decideAnnounce(row, request, now()), { isNew: true }),
    claim: async (request, { isNew = false, findOutcome, onTry, ...facts }) => {
      checkMs('leaseMs', facts.leaseMs);
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
      checkMs('mustLastMs', mustLastMs);
      const decide = (row: JobRow | undefined) => decideSent(row, holder, { mustLastMs, nowMs: now() });
      const answer = await step(holder.id, decide, { holder });
      return answer.kind === 'sent' ? sentInTime(answer.claim, { mustLastMs, nowMs: now() }) : answer;
    },
    renew: async (holder, leaseMs) => {
      checkMs('leaseMs', leaseMs);
      return step(holder.id, (row) => decideRenew(row, holder, { leaseMs, nowMs: now() }), { holder });
    },
    takeBack: (tried) => step(tried.id, (row) => decideTakeBack(row, tried, now())),
    release: (holder, options = {}) =>
      step(holder.id, (row) => decideRelease(row, holder, options), { holder }),
    end: async (holder, outcome) => {
      // In the form in which it will be read, so that a repeated outcome is recognized.
      const plain = JSON.parse(JSON.stringify(outcome));
      return step(holder.id, (row) => decideEnd(row, holder, { outcome: plain, nowMs: now() }), { holder });
    },
    read: async (id) => (await parts.read(id))?.row,
    cancel: (id, options = {}) => step(id, (row) => decideCancel(row, { id, nowMs: now(), ...options })),
    reopen: (id, options = {}) => step(id, (row) => decideReopen(row, options)),
    resolve: (id, resolution) => step(id, (row) => decideResolve(row, { ...resolution, nowMs: now() })),
    list: () => listJobs(table),
  };
}

async function* listJobs(table: Table): AsyncGenerator<JobRow> {
  for await (const { row } of table.scan(PARTITION_PREFIX)) yield fromRow(row);
}

/** A clock that is off is set by three responses. Where they do not say the time, the clock here is used after them. */
function createSetTime(
  { read }: Pick<StepParts, 'read'>,
  { isTimeKnown = () => true }: LedgerOptions,
): Ledger['setTime'] {
  let isDateless = false;
  return async () => {
    if (isDateless || isTimeKnown()) return;
    for (let tries = 0; tries < 3 && !isTimeKnown(); tries += 1) await read(NOTHING);
    isDateless = !isTimeKnown();
  };
}

/** Reads and writes the rows of jobs. */
function rowsOf({
  table,
  now = Date.now,
  newToken = randomUUID,
  expireAfterMs = 30 * 24 * 60 * 60 * 1_000,
}: LedgerOptions): StepParts {
  checkMs('expireAfterMs', expireAfterMs);
  return {
    read: async (id) => toFound(await table.get(keyOf(id))),
    async write(id, row, expected) {
      const token = newToken();
      const expiresAtMs = now() + expireAfterMs;
      const result = await table.put(keyOf(id), toRow(row), { expected, token, expiresAtMs });
      return result.kind === 'stored'
        ? { kind: 'stored', stored: { row, token } }
        : { kind: 'other', current: toFound(result.current) };
    },
  };
}

const toFound = (stored: StoredRow | undefined): FoundRow | undefined =>
  stored && { row: fromRow(stored.row), token: stored.token };

const PARTITION_PREFIX = 'job#';

/** A name that no job has: nothing is there. */
const NOTHING = '-';

const keyOf = (id: string): RowKey => ({ partition: `${PARTITION_PREFIX}${id}`, sort: '-' });

function checkMs(name: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value)))
    throw new RangeError(`${name}: expected milliseconds above 0, got ${value}`);
}
