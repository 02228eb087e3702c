import type { Logger } from 'pino';
import { getBounded, isKey, type Store, StoredObjectError } from '../store/index.ts';
import type { JobStorage } from './job-storage.ts';
import { MOST_MESSAGE_BYTES, type Queue } from './queue/queue.ts';
import { parseInboxRequest, writeRefusedInbox } from './texts/batch/inbox-request.ts';
import { splitBatch } from './texts/batch/split-batch.ts';
import { createInput } from './texts/rows/read-rows.ts';
import { RowsError } from './texts/rows/rows-error.ts';

export type InboxOptions = {
  readonly storage: JobStorage;
  readonly queue: Pick<Queue, 'send'>;
  /** The most requests per second. */
  readonly rate: number;
  readonly logger: Logger;
};

/** What happened to a request: it was split into chunks, or refused, with the key of the refusal. */
export type SplitInbox =
  | { readonly kind: 'split'; readonly batch: string; readonly chunks: number; readonly rows: number }
  | { readonly kind: 'refused'; readonly refused: string };

/**
 * Splits the request at `inbox/BATCH.json` into score jobs on the queue. A request that cannot be carried out is stored
 * under `refused/`, with every reason. Repeating a request, such as when an event arrives twice, changes nothing.
 */
export async function splitInbox(key: string, options: InboxOptions): Promise<SplitInbox> {
  const { storage, queue, rate, logger } = options;
  const { store } = storage;
  const refuse = async (faults: readonly string[]): Promise<SplitInbox> => {
    const refused = await writeRefusedInbox(store, { key, faults });
    logger.warn({ key, refused, faults }, 'request refused');
    return { kind: 'refused', refused };
  };
  if (!isKey(key))
    return refuse([`key: expected the key of an object in a store, got ${JSON.stringify(key)}`]);
  const found = await readRequest(store, key);
  if ('fault' in found) return refuse([found.fault]);
  const parsed = parseInboxRequest(key, found.body);
  if (parsed.kind === 'refused') return refuse(parsed.faults);
  const { batch, object, request, maxCalls, ...columns } = parsed.request;
  const source = sourceObject(store, object);
  if ((await source.exists()) === false)
    return refuse([
      `object: expected the key of an object in ${store.location}, got ${JSON.stringify(object)}, which does not exist`,
    ]);
  try {
    const { rows, found: input } = createInput(source.read, { ...columns, name: object });
    const split = await splitBatch(
      { batch, request, rows, input, host: storage.host },
      {
        ...storage.batches,
        cache: storage.cache,
        rate,
        maxCalls,
        send: (messages) => queue.send(messages.map((message) => JSON.stringify(message))),
      },
    );
    if (split.kind === 'refused') return refuse(split.reasons);
    const { chunks, rows: count, badRows } = split;
    logger.info({ batch, chunks, rows: count, badRows, input: input() }, 'request split');
    return { kind: 'split', batch, chunks: split.chunks, rows: split.rows };
  } catch (error) {
    if (error instanceof RowsError) return refuse([error.message]);
    throw error;
  }
}

/** The bytes of a request, which is read only if it is no larger than a message may be. */
async function readRequest(store: Store, key: string) {
  try {
    return (
      (await getBounded(store, key, MOST_MESSAGE_BYTES)) ?? {
        fault: `${key}: expected a request, got nothing`,
      }
    );
  } catch (error) {
    if (error instanceof StoredObjectError) return { fault: error.message };
    throw error;
  }
}

function sourceObject(store: Store, key: string) {
  return {
    async exists() {
      for await (const { key: found } of store.list(key)) return found === key;
      return false;
    },
    async *read(): AsyncGenerator<Uint8Array> {
      const stream = await store.stream(key);
      if (stream === undefined) throw new Error(`${key} in ${store.location}: it was there, but is gone now`);
      yield* stream;
    },
  };
}
