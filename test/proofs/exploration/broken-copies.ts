import type { Lease } from '../../../lib/jobs/delivery.ts';
import type { Claim, JobRow } from '../../../lib/jobs/ledger/job-row.ts';
import { createLedger, type Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import { withId } from '../../../lib/jobs/message/check-message.ts';
import type { QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Row, StoredRow, Table } from '../../../lib/table/table.ts';
import type { ExploredQueue } from './outside.ts';
import type { Fault, ScenarioName } from './scenario.ts';

/** The replacements that remove one rule from a copy of the code. Empty: the code is unchanged. */
export type BrokenCopy = {
  readonly withTable?: (table: Table) => Partial<Table>;
  readonly withStore?: (store: Store) => Partial<Store>;
  readonly withLedger?: (
    ledger: Ledger,
    table: Table,
    now: () => number,
    newToken: () => string,
  ) => Partial<Ledger>;
  readonly withQueue?: (queue: ExploredQueue) => Partial<ExploredQueue>;
  readonly withMessage?: (message: QueueMessage) => QueueMessage;
  readonly lease?: Partial<Lease>;
  /** False: a write whose response was lost is not recognized by its token afterwards. */
  readonly knowsOwn?: false;
};

/** A broken copy, the number and kinds of faults that make the exploration find it, and the reported violation. */
type Found = BrokenCopy & {
  readonly in: ScenarioName;
  readonly faults: number;
  readonly only?: readonly Fault[];
  readonly breaks: RegExp;
};

/** Longer than any lease. */
const LONG_MS = 1e10;

/** A copy in which a job in this state cannot be released. */
const withoutRelease = (state: JobRow['state']): BrokenCopy => ({
  withLedger: (ledger) => ({
    async release(holder, options) {
      const row = await ledger.read(holder.id);
      return row?.state === state ? { kind: 'lost', row } : ledger.release(holder, options);
    },
  }),
});

/** A copy in which objects under this prefix are not stored. */
const withoutObjects = (prefix: string): BrokenCopy => ({
  withStore: (store) => ({
    put: async (key, body, options) =>
      key.startsWith(prefix) ? { kind: 'stored', etag: '' } : store.put(key, body, options),
  }),
});

/** Copies of the code with one rule removed each. The exploration must find a violation in every one. */
export const brokenCopies: Readonly<Record<string, Found>> = {
  'no SENT: a send is not recorded before the request leaves': {
    withLedger: (ledger) => ({
      claim: (request, { sends: _, ...options }) => ledger.claim(request, options),
      sent: async ({ id }) => ({ kind: 'sent', claim: (await ledger.read(id)) as Claim }),
    }),
    in: 'one message',
    faults: 1,
    breaks: /ran 2 times/,
  },
  'no token: a write ignores the one before': {
    withTable: (table) => ({
      async put(key, row, options) {
        const there = await table.get(key);
        return table.put(key, row, { ...options, expected: there?.token ?? null });
      },
    }),
    in: 'two messages',
    faults: 0,
    breaks: /ran 2 times/,
  },
  'no token: who lost the response to a write takes the row for somebody else’s': {
    knowsOwn: false,
    in: 'a table with lost responses',
    faults: 2,
    breaks: /its own lease/,
  },
  'no lease rule: a live lease is taken over': {
    withLedger: (_, table, now, newToken) => ({
      claim: createLedger({ table: showing(table, expired), now, newToken }).claim,
    }),
    in: 'two messages',
    faults: 0,
    breaks: /while its lease lasted/,
  },
  'no lease rule: a send ignores its lease': {
    withLedger: (ledger, _, now) => ({
      async sent(holder) {
        const answer = await ledger.sent(holder);
        if (answer.kind === 'lost') return answer;
        return { ...answer, claim: { ...answer.claim, leaseUntilMs: now() + LONG_MS } };
      },
      async claim(request, options) {
        const answer = await ledger.claim(request, options);
        if (answer.kind !== 'claimed' || !options.sends) return answer;
        return { ...answer, claim: { ...answer.claim, leaseUntilMs: now() + LONG_MS } };
      },
    }),
    in: 'a renewed lease',
    faults: 1,
    only: ['a pause'],
    breaks: /after its lease/,
  },
  'no fence: whoever held the job may end it': {
    withLedger: (ledger) => ({
      end: async (holder, outcome) => ledger.end((await ledger.read(holder.id)) ?? holder, outcome),
    }),
    in: 'a renewed lease and a function that may be repeated',
    faults: 1,
    only: ['a pause'],
    breaks: /while its lease lasted/,
  },
  'a staged outcome is not looked up': {
    withLedger: (ledger) => ({
      claim: (request, options) => ledger.claim(request, { ...options, findOutcome: async () => undefined }),
    }),
    in: 'one message',
    faults: 1,
    breaks: /nobody had looked/,
  },
  'an outcome is written once only': {
    lease: { writeUntilMs: () => 0 },
    in: 'one message',
    faults: 1,
    breaks: /the response, and it was lost/,
  },
  'SENT is not taken back on proof': {
    ...withoutRelease('SENT'),
    in: 'one message',
    faults: 1,
    breaks: /nothing hid whether/,
  },
  'a job that was called unknown stays so, although nothing left': {
    ...withoutRelease('UNKNOWN'),
    in: 'a renewed lease',
    faults: 1,
    only: ['a pause'],
    breaks: /the worker that knows/,
  },
  'what was certainly not executed is given up': {
    withLedger: (ledger) => ({
      async release(holder) {
        await ledger.end(holder, { status: 'failed', error: { kind: 'x', message: '' } });
        return { kind: 'lost', row: undefined };
      },
    }),
    in: 'one message',
    faults: 1,
    breaks: /given up as FAILED/,
  },
  'a worker waits for a response that never comes': {
    withQueue: () => ({ delay: () => new Promise(() => undefined) }),
    in: 'one message',
    faults: 1,
    breaks: /never comes/,
  },
  'a late success does not count': {
    withLedger: (ledger) => ({
      async end(holder, outcome) {
        const row = await ledger.read(holder.id);
        return row?.state === 'UNKNOWN' ? { kind: 'lost', row } : ledger.end(holder, outcome);
      },
    }),
    in: 'a renewed lease',
    faults: 1,
    only: ['a pause'],
    breaks: /the response, and it was lost/,
  },
  'what a worker knows of a job that was called unknown is not staged': {
    ...withoutObjects('work/outcomes/'),
    in: 'a process that is held up, and dies',
    faults: 1,
    breaks: /the worker that knows|was lost|before the result/,
  },
  'the id is not written into the message': {
    withMessage: (message) => ({ ...message, body: named(message) }),
    in: 'a message without an id',
    faults: 2,
    breaks: /ran 2 times|2 jobs/,
  },
  'a message is deleted before the result is written': {
    ...withoutObjects('results/'),
    in: 'one message',
    faults: 0,
    breaks: /before the result of its job was visible/,
  },
  'results ignore the one before': {
    withStore: (store) => ({ put: (key, body) => store.put(key, body) }),
    in: 'a renewed lease',
    faults: 1,
    only: ['a pause'],
    breaks: /the result was/,
  },
  'a cancel ignores that the job was sent': {
    withLedger: (_, table, now, newToken) => ({
      cancel: createLedger({ table: showing(table, unsent), now, newToken }).cancel,
    }),
    in: 'a cancel',
    faults: 0,
    breaks: /the job failed \(cancelled\), and its function ran/,
  },
  'a redrive reopens whatever has ended': {
    withLedger: (ledger) => ({ reopen: (id) => ledger.reopen(id, { anyOutcome: true }) }),
    in: 'a function that fails, and a redrive',
    faults: 1,
    breaks: /UNKNOWN was reopened/,
  },
  'a redrive of everything reopens what was cancelled': {
    withLedger: (ledger) => ({ reopen: (id) => ledger.reopen(id, { isNamed: true }) }),
    in: 'a cancel and a redrive of everything',
    faults: 0,
    breaks: /cancelled job was reopened/,
  },
};

const named = ({ body, messageId }: QueueMessage) =>
  body.includes('"id":') ? body : withId(body, messageId);

const unsent = (row: Row): Row => (row['state'] === 'SENT' ? { ...row, state: 'CLAIMED' } : row);
const expired = (row: Row): Row => (row['leaseUntilMs'] === undefined ? row : { ...row, leaseUntilMs: 0 });

/** A table whose reads return rows changed by `show`. */
function showing(table: Table, show: (row: Row) => Row): Table {
  const shown = (found: StoredRow | undefined) => found && { ...found, row: show(found.row) };
  return {
    ...table,
    get: async (key) => shown(await table.get(key)),
    async put(key, row, options) {
      const written = await table.put(key, row, options);
      return written.kind === 'other' ? { kind: 'other', current: shown(written.current) } : written;
    },
  };
}
