import type { Lease } from '../../../lib/jobs/delivery.ts';
import type { Worker } from '../../../lib/jobs/handle-message.ts';
import { createLedger, type Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import { invocationLease } from '../../../lib/jobs/open-worker.ts';
import type { QueueMessage } from '../../../lib/jobs/queue/queue.ts';
import { redriveFailed } from '../../../lib/jobs/redrive.ts';
import { sendsMany } from '../../../lib/jobs/types/job-types.ts';
import { handleDelivery, runBatch } from '../../../lib/jobs/work.ts';
import type { Store } from '../../../lib/store/store.ts';
import { settleWrite } from '../../../lib/table/dynamo-table.ts';
import type { StoredRow, Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import { leaseOver } from '../../jobs/lease-over.ts';
import { workerOver } from '../../jobs/worker-over.ts';
import { clientOver } from '../../platform/client-over.ts';
import type { Sender } from './asks.ts';
import type { BrokenCopy } from './broken-copies.ts';
import type { Code, Start } from './histories.ts';
import {
  type ExploredQueue,
  type Outside,
  paceOver,
  queueOver,
  sendOver,
  storeOver,
  tableOver,
} from './outside.ts';
import type { Person, Scenario } from './scenario.ts';

/** A run of the explored code: one delivery of a message, or a person's command. */
export type Begun =
  | (Start<'delivery'> & { readonly message: QueueMessage })
  | (Start<Person> & { readonly id: string });

/** The time limit of an invocation, and how long a message is hidden from others while one has it. */
export const TIMEOUT_MS = 900_000;
export const HIDDEN_MS = { invocation: TIMEOUT_MS + 30_000, process: 120_000 } as const;

/** The production parts that a run uses, connected to the simulated outside world. */
type Parts = {
  readonly outside: Outside;
  readonly table: Table;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly queue: ExploredQueue;
  /** The last claim that this run got. */
  readonly sender: () => Sender;
};

/** The production code of a scenario, as it runs in one delivery or one command; a broken copy has parts replaced. */
export function exploredCode(scenario: Scenario, copy: BrokenCopy): Code<Begun> {
  return (start, outside) => {
    const parts = partsOver(outside, scenario, copy);
    return start.role === 'delivery'
      ? deliver(start.message, scenario, copy, parts)
      : command(start.role, start.id, parts);
  };
}

function partsOver(outside: Outside, scenario: Scenario, copy: BrokenCopy): Parts {
  const { now, newToken } = outside;
  const plain = scenario.table === 'loses SENT' ? losingSent(tableOver(outside)) : tableOver(outside);
  const complete = scenario.table === 'plain' ? plain : settledTable(plain, outside, copy.knowsOwn !== false);
  const table = { ...complete, ...copy.withTable?.(complete) };
  const store = storeOver(outside);
  const real = createLedger({ table, now, newToken });
  const ledger = { ...real, ...copy.withLedger?.(real, table, now, newToken) };
  const queue = queueOver(outside);
  let sender: Sender = { id: '', fence: 0 };
  return {
    outside,
    table,
    store: { ...store, ...copy.withStore?.(store) },
    queue: { ...queue, ...copy.withQueue?.(queue) },
    sender: () => sender,
    ledger: {
      ...ledger,
      async claim(request, options) {
        const answer = await ledger.claim(request, options);
        if (answer.kind === 'claimed') sender = { id: answer.claim.id, fence: answer.claim.fence };
        return answer;
      },
    },
  };
}

/** A table that makes the first write of state SENT to each row, but loses the response. */
function losingSent(table: Table): Table {
  const lost = new Set<string>();
  return {
    ...table,
    async put(key, row, options) {
      const written = await table.put(key, row, options);
      if (row['state'] !== 'SENT' || lost.has(options.token)) return written;
      lost.add(options.token);
      throw new TableError('put SENT', { kind: 'unreachable', code: 'ECONNRESET' });
    },
  };
}

async function command(
  role: Person,
  id: string,
  { ledger, store, queue, table, outside }: Parts,
): Promise<void> {
  if (role === 'cancel') return void (await ledger.cancel(id, { stops: sendsMany }));
  const batches = { store, table, newToken: outside.newToken, now: outside.now };
  await redriveFailed(role === 'redrive' ? [] : [id], { store, ledger, queue, batches });
}

/** Works like the deployed function with the queue's service, or like the command `work`. */
async function deliver(
  given: QueueMessage,
  { worker: kind, job, isHeldUp }: Scenario,
  copy: BrokenCopy,
  parts: Parts,
) {
  const { outside, queue } = parts;
  const message = copy.withMessage?.(given) ?? given;
  const worker = workerOf(parts, job.end);
  if (kind === 'invocation') {
    const { now } = outside;
    const lease = { ...invocationLease(TIMEOUT_MS, { now, steady: now }), ...copy.lease };
    const failed = await runBatch([message], { worker, lease, queue, concurrency: 1 });
    if (failed.length > 0) return;
  } else {
    const lease = {
      ...leaseOver({ ledger: parts.ledger, now: outside.now, sleep: outside.sleep }),
      ...(isHeldUp ? unrenewed : {}),
      ...copy.lease,
    };
    const { kind: handled } = await handleDelivery(message, { worker, lease, queue });
    if (handled !== 'done') return;
  }
  // Without a response the message is delivered again.
  await queue.delete(message.receipt).catch(() => undefined);
}

function workerOf({ outside, table, store, ledger, sender }: Parts, end: Scenario['job']['end']): Worker {
  const { ask, now, sleep, newToken } = outside;
  const clock = { now, sleep, random: () => 0.5 };
  return workerOver({
    ...clock,
    owner: 'worker',
    ledger,
    table,
    store,
    newToken,
    platform: clientOver({ ...clock, send: sendOver(outside, sender, end), pace: paceOver(outside, sender) }),
    async reportFinished({ status }) {
      await ask({ kind: 'report the end', status });
    },
  });
}

const unrenewed: Pick<Lease, 'holdLease'> = {
  holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
};

/** DynamoDB's response when a condition does not hold: the current row. */
class ConditionFailed extends Error {
  override readonly name = 'ConditionalCheckFailedException';
  readonly current: StoredRow | undefined;

  constructor(current: StoredRow | undefined) {
    super('the condition did not hold');
    this.current = current;
  }
}

/**
 * A table with the retry rounds of the DynamoDB adapter around each write: each of its requests is one step.
 * `knowsOwn`: a write whose response was lost is recognized by its token.
 */
const settledTable = (table: Table, { sleep }: Pick<Outside, 'sleep'>, knowsOwn = true): Table => ({
  ...table,
  put: (key, row, options) =>
    settleWrite({
      async write() {
        const written = await table.put(key, row, options);
        if (written.kind === 'other') throw new ConditionFailed(written.current);
      },
      read: () => table.get(key),
      rowOf: (error) => (error instanceof ConditionFailed ? error.current : undefined),
      isStored: (current) => knowsOwn && current?.token === options.token,
      expected: options.expected,
      sleep,
    }),
});
