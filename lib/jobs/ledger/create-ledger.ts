import { randomUUID } from 'node:crypto';
import type { RowKey, Table } from '../../table/table.ts';
import type { JobRow } from './job-row.ts';
import type { Ledger, SentAnswer } from './ledger.ts';
import { fromRow, toRow } from './stored-row.ts';
import {
  type Decision,
  decideAnnounce,
  decideCancel,
  decideClaim,
  decideEnd,
  decideNotSent,
  decideRelease,
  decideRenew,
  decideReopen,
  decideResolve,
  decideSent,
} from './transitions.ts';

export type LedgerOptions = {
  readonly table: Table;
  /** Epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** A token that no earlier write had. Default: a random UUID. */
  readonly newToken?: () => string;
  /** How long a row stays after its last write. Default: 30 days. */
  readonly expireAfterMs?: number;
};

/** The ledger over a table: one row per job, changed by one conditional write per step. */
export function createLedger(options: LedgerOptions): Ledger {
  const { table, now = Date.now } = options;
  const { read, step } = createSteps(options);

  const notSent: Ledger['notSent'] = (holder, { wasTried = true } = {}) =>
    step(holder.id, (row) => decideNotSent(row, holder, { wasTried }));

  return {
    announce: (request) => step(request.id, (row) => decideAnnounce(row, request, now())),
    claim: async (request, options) => {
      checkMs('leaseMs', options.leaseMs);
      return step(request.id, (row) => decideClaim(row, request, { ...options, nowMs: now() }));
    },
    sent: async (holder, { mustLastMs }): Promise<SentAnswer> => {
      checkMs('mustLastMs', mustLastMs);
      const answer = await step(holder.id, (row) => decideSent(row, holder, { mustLastMs, nowMs: now() }));
      if (answer.kind !== 'sent') return answer;
      // The write takes time: what counts is how much of the lease is left when the request leaves.
      const leftMs = answer.claim.leaseUntilMs - now();
      if (leftMs > 0 && leftMs >= mustLastMs) return answer;
      const takenBack = await notSent(holder, { wasTried: false });
      return takenBack.kind === 'lost' ? takenBack : { kind: 'too-late', leftMs };
    },
    notSent,
    renew: async (holder, leaseMs) => {
      checkMs('leaseMs', leaseMs);
      return step(holder.id, (row) => decideRenew(row, holder, { leaseMs, nowMs: now() }));
    },
    release: (holder, options) => step(holder.id, (row) => decideRelease(row, holder, options)),
    end: async (holder, outcome) => {
      // In the form in which it will be read, so that a repeated outcome is recognized.
      const plain = JSON.parse(JSON.stringify(outcome));
      return step(holder.id, (row) => decideEnd(row, holder, { outcome: plain, nowMs: now() }));
    },
    read: async (id) => (await read(id))?.row,
    cancel: (id) => step(id, (row) => decideCancel(row, { id, nowMs: now() })),
    reopen: (id, options = {}) => step(id, (row) => decideReopen(row, options)),
    resolve: (id, resolution) => step(id, (row) => decideResolve(row, { ...resolution, nowMs: now() })),
    async *list() {
      for await (const { row } of table.scan(PARTITION_PREFIX)) yield fromRow(row);
    },
  };
}

/** Reads the row of a job, and takes a step: decides what to write in its place, and writes that. */
function createSteps({
  table,
  now = Date.now,
  newToken = randomUUID,
  expireAfterMs = 30 * 24 * 60 * 60 * 1_000,
}: LedgerOptions) {
  checkMs('expireAfterMs', expireAfterMs);

  const read = async (id: string) => {
    const stored = await table.get(keyOf(id));
    return stored && { row: fromRow(stored.row), token: stored.token };
  };

  // After a lost race, the step is decided again from the row that won: each retry is somebody else's progress.
  const step = async <Answer>(id: string, decide: (row: JobRow | undefined) => Decision<Answer>) => {
    for (let found = await read(id); ; found = await read(id)) {
      const { write, answer } = decide(found?.row);
      if (write === undefined) return answer;
      const result = await table.put(keyOf(id), toRow(write), {
        expected: found?.token ?? null,
        token: newToken(),
        expiresAtMs: now() + expireAfterMs,
      });
      if (result.kind === 'stored') return answer;
    }
  };

  return { read, step };
}

const PARTITION_PREFIX = 'job#';

const keyOf = (id: string): RowKey => ({ partition: `${PARTITION_PREFIX}${id}`, sort: '-' });

function checkMs(name: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value)))
    throw new RangeError(`${name}: expected milliseconds above 0, got ${value}`);
}
