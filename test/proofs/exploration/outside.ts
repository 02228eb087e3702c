import { AwsError } from '../../../lib/base/aws/fault.ts';
import { type Pace, PaceWaitError } from '../../../lib/pace/pace.ts';
import type { Send } from '../../../lib/platform/http/transport.ts';
import { StoreError } from '../../../lib/store/error.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import { createFakePace } from '../../pace/fake-pace.ts';
import { lost, status } from '../../platform/fake-call.ts';
import type { FunctionEnd } from '../job-plan.ts';
import { responseTo } from '../platform-responses.ts';
import type { Ask, Asks, Sender } from './asks.ts';

/** A request that got no response. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
  readonly code = 'ECONNRESET';
}

/** The outside world, as one run of the explored code sees it. */
export type Outside = {
  /** Rejects with a `NoResponseError`. */
  readonly ask: <Asked extends Ask>(ask: Asked) => Promise<Asks[Asked['kind']]['gets']>;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Epoch milliseconds: the time of the last reply. */
  readonly now: () => number;
  /** A token that is unique to one write. */
  readonly newToken: () => string;
};

/**
 * A table on which each operation is one request. Like DynamoDB it does not recognize writers: repeating a
 * conditional write that has succeeded fails.
 */
export function tableOver({ ask }: Outside): Table {
  const asTableError = (tried: string) => (cause: unknown) => {
    throw new TableError(tried, { kind: 'unreachable', code: 'ECONNRESET' }, { cause });
  };
  const none = () => {
    throw new Error('lists of rows are not explored');
  };
  return {
    get: async ({ partition: key }) =>
      (await ask({ kind: 'read the row', key }).catch(asTableError(`get ${key}`))) ?? undefined,
    getAll: () => Promise.reject(new Error('rows are not read together')),
    put: ({ partition: key }, row, { expected, token }) =>
      ask({ kind: 'write the row', key, row, expected, token }).catch(asTableError(`put ${key}`)),
    delete: () => Promise.reject(new Error('no row is deleted')),
    list: none,
    scan: none,
  };
}

/** A store on which each operation is one request. */
export function storeOver({ ask }: Outside): Store {
  const asStoreError = (tried: string) => (cause: unknown) => {
    throw new StoreError(tried, { kind: 'unreachable', code: 'ECONNRESET' }, { cause });
  };
  const none = () => {
    throw new Error('streams, copies and folders are not explored');
  };
  return {
    location: 'memory',
    stream: none,
    putStream: none,
    copy: none,
    folders: none,
    async get(key) {
      const found = await ask({ kind: 'read an object', key }).catch(asStoreError(`get ${key}`));
      return found === null ? undefined : { body: Buffer.from(found.body), etag: found.etag };
    },
    put: (key, body, { condition } = {}) =>
      ask({
        kind: 'write an object',
        key,
        body: Buffer.from(body).toString(),
        ...(condition === undefined ? {} : { condition }),
      }).catch(asStoreError(`put ${key}`)),
    async *list(prefix) {
      const keys = await ask({ kind: 'list objects', prefix }).catch(asStoreError(`list ${prefix}`));
      yield* keys.map((key) => ({ key, sizeBytes: 1, mark: '' }));
    },
    async delete(key) {
      await ask({ kind: 'delete an object', key }).catch(asStoreError(`delete ${key}`));
    },
  };
}

export function queueOver({ ask }: Outside) {
  const asAwsError = (tried: string) => (cause: unknown) => {
    throw new AwsError('queue', tried, cause);
  };
  return {
    async send(bodies: readonly string[]): Promise<void> {
      for (const body of bodies) await ask({ kind: 'send a message', body }).catch(asAwsError('send'));
    },
    async delete(receipt: string): Promise<void> {
      await ask({ kind: 'delete the message', receipt }).catch(asAwsError('delete'));
    },
    async delay(receipt: string, delayMs: number): Promise<void> {
      await ask({ kind: 'delay the message', receipt, delayMs }).catch(asAwsError('delay'));
    },
  };
}

export type ExploredQueue = ReturnType<typeof queueOver>;

/** The wait that is reported for a call without a slot. */
const WAIT_MS = 45_000;

/** A pace that lets a call leave once it has a slot. Time may pass between the write of SENT and the slot. */
export const paceOver = ({ ask, now }: Outside, sender: () => Sender): Pace =>
  createFakePace({
    now,
    async takeTurn(signal) {
      const { isGranted } = await ask({ kind: 'take a slot', ...sender() });
      signal?.throwIfAborted();
      if (!isGranted) throw new PaceWaitError(WAIT_MS, 20_000);
      return 0;
    },
  });

/** Sends to the platform. `end`: the status with which the code function ends. */
export const sendOver =
  ({ ask }: Outside, sender: () => Sender, end: FunctionEnd): Send =>
  async (request, _token, signal) => {
    signal?.throwIfAborted();
    const reply = await ask({ kind: 'call the platform', ...sender() }).catch(() => undefined);
    switch (reply?.kind) {
      case undefined:
        return lost;
      case 'executed':
        return responseTo(request, reply.execution, end);
      case 'throttled':
        return status(429, 1_000);
      case 'rejected':
        return status(400);
      default:
        return reply satisfies never;
    }
  };
