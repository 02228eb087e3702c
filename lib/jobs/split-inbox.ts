import type { Logger } from 'pino';
import * as z from 'zod/mini';
import { checkedBy, faultsOf, filledText, once, wholeNumber, yesOrNo } from '../base/index.ts';
import { type Environment, needed, type Settings } from '../settings.ts';
import {
  getBounded,
  isKey,
  keySegment,
  openStore,
  printStored,
  type Store,
  StoredObjectError,
  storeUntil,
} from '../store/index.ts';
import { tableCheckOf } from '../table/index.ts';
import { doubtError, readWholeText, surveyText, TextError } from '../text/index.ts';
import { type JobStorage, openJobStorage } from './job-storage.ts';
import { readMessageJson } from './message/check-message.ts';
import { openQueue } from './queue/open-queue.ts';
import { MAX_MESSAGE_BYTES, type Queue } from './queue/queue.ts';
import type { ScoreRequest } from './texts/batch/batch.ts';
import { splitBatch } from './texts/batch/score-file.ts';
import { createInput } from './texts/rows/read-rows.ts';
import { isBatchName, MAX_BATCH_NAME_LENGTH, scoringFields } from './types/score/message.ts';

/**
 * Opens the function that splits the requests of the inbox into jobs on the queue. Throws if no table or queue is
 * set, or the table belongs to another store.
 */
export async function openInbox(options: {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly logger: Logger;
}) {
  const { environment, settings, logger } = options;
  const { SYNC_STORE: location, PLATFORM_RATE: rate } = settings;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  const store = once(() => openStore(location, { s3: environment }));
  const checkTable = tableCheckOf(needed(settings, 'SYNC_TABLE'), environment, store);
  const [storage, queue] = await Promise.all([
    openJobStorage({ environment, settings, store, checkTable }),
    openQueue(queueUrl, environment),
  ]);
  /** Splits the request under this key. Throws the signal's reason as soon as it is aborted. */
  return (key: string, until: AbortSignal): Promise<SplitInbox> =>
    unlessAborted(splitInbox(key, { storage: storageUntil(storage, until), queue, rate, logger }), until);
}

/**
 * Returns the result of the work, or throws the signal's reason as soon as it is aborted: SQS and the table
 * take no signal.
 */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
  return await Promise.race([work, aborted.promise]);
}

/**
 * Wraps the storage so that its calls end when `until` is aborted. Otherwise a call to S3 may take minutes, and no time
 * would be left to report the outcome of the request.
 */
function storageUntil(storage: JobStorage, until: AbortSignal): JobStorage {
  const store = storeUntil(storage.store, until);
  return { ...storage, store, batches: { ...storage.batches, store } };
}

type InboxOptions = {
  readonly storage: JobStorage;
  readonly queue: Pick<Queue, 'send'>;
  /** The maximum requests a second. */
  readonly rate: number;
  readonly logger: Logger;
};

/** The outcome of a request. `refused`: the key of the refusal. */
type SplitInbox =
  | { readonly kind: 'split'; readonly batch: string; readonly chunks: number; readonly rows: number }
  | { readonly kind: 'refused'; readonly refused: string };

/**
 * Splits the request at `inbox/BATCH.json` into score jobs. If it is invalid, stores all reasons as
 * `refused/inbox-BATCH.json` instead.
 */
export async function splitInbox(key: string, options: InboxOptions): Promise<SplitInbox> {
  const { store } = options.storage;
  const split = await trySplit(key, options);
  if (!('faults' in split)) return split;
  const { faults } = split;
  const refused = refusedKeyOf(key);
  await store.put(refused, printStored({ version: 1, key, faults }));
  options.logger.warn({ key, refused, faults }, 'request refused');
  return { kind: 'refused', refused };
}

/** The key for the reasons why a request is refused. The name of a refused request may have any characters. */
function refusedKeyOf(key: string): string {
  const name = batchOf(key).replace(/[^A-Za-z0-9._:-]/g, '_');
  return `refused/inbox-${keySegment(name.slice(0, MAX_BATCH_NAME_LENGTH))}.json`;
}

type Faults = { readonly faults: readonly string[] };

async function trySplit(key: string, options: InboxOptions): Promise<SplitInbox | Faults> {
  const { storage, queue, rate, logger } = options;
  const { store } = storage;
  try {
    if (!isKey(key))
      return { faults: [`key: expected the key of an object in a store, got ${JSON.stringify(key)}`] };
    // A request must fit into each message that is built from it.
    const found = await getBounded(store, key, MAX_MESSAGE_BYTES).catch(asFaults);
    if (found === undefined) return { faults: [`${key}: the request was deleted before it was read`] };
    if ('faults' in found) return found;
    const parsed = parseInboxRequest(key, Buffer.from(await readWholeText(found.body, { name: key })));
    if ('faults' in parsed) return parsed;
    const { batch, object, request, maxCalls, ...columns } = parsed;
    if (!(await exists(store, object)))
      return {
        faults: [
          `object: expected the key of an object in ${store.location}, got ${JSON.stringify(object)}, which does not exist`,
        ],
      };
    const open = () => read(store, object);
    const { encoding, doubt } = await surveyText(open, { encoding: columns.encoding, name: object });
    if (doubt !== undefined)
      throw doubtError(doubt, 'state it as "encoding" in the request', { name: object });
    const { rows, found: input } = createInput(open, { ...columns, encoding, name: object });
    const bulkRequest = { batch, request, rows, input, host: storage.host };
    const split = await splitBatch(bulkRequest, {
      ...storage.batches,
      cache: storage.cache,
      rate,
      maxCalls,
      send: (messages) => queue.send(messages.map((message) => JSON.stringify(message))),
    });
    if (split.kind === 'refused') return { faults: split.reasons };
    const { chunks, rows: count, badRows } = split;
    logger.info({ batch, chunks, rows: count, badRows, input: input() }, 'request split');
    return { kind: 'split', batch, chunks, rows: count };
  } catch (error) {
    if (error instanceof TextError) return { faults: [error.message] };
    throw error;
  }
}

function asFaults(error: unknown): Faults {
  if (error instanceof StoredObjectError) return { faults: [error.message] };
  throw error;
}

async function exists(store: Store, key: string): Promise<boolean> {
  for await (const { key: found } of store.list(key)) return found === key;
  return false;
}

async function* read(store: Store, key: string): AsyncGenerator<Uint8Array> {
  const stream = await store.stream(key);
  if (stream === undefined)
    throw new Error(`${key} in ${store.location} was deleted while the request was being split`);
  yield* stream;
}

const EXPECTED_KEY = 'the key of an object in the store';

const inboxSchema = z.strictObject(
  {
    object: z.string({ error: EXPECTED_KEY }).check(z.refine(isKey, { error: EXPECTED_KEY })),
    text: filledText,
    id: z.optional(filledText),
    columns: z.optional(
      z
        .array(filledText, { error: 'a list of column names' })
        .check(z.refine((names) => new Set(names).size === names.length, { error: 'each column only once' })),
    ),
    encoding: z.optional(filledText),
    separator: z.optional(filledText),
    wholeRows: z.optional(yesOrNo),
    ...scoringFields,
    maxCalls: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  },
  { error: 'an object' },
);

/**
 * Parses a request (UTF-8), or returns all of its faults. `key` is the object's key, which contains the name of the
 * batch.
 */
export function parseInboxRequest(
  key: string,
  body: Uint8Array,
): /** `object` is the key of the texts; `text`, `id` and `columns` are names of columns; the other options are as for `score`. */
  | (Omit<z.infer<typeof inboxSchema>, keyof ScoreRequest> & {
      readonly batch: string;
      readonly request: ScoreRequest;
    })
  | Faults {
  const batch = batchOf(key);
  const faults = isBatchName(batch)
    ? []
    : [
        `key: expected inbox/BATCH.json, with a batch name of 1 to ${MAX_BATCH_NAME_LENGTH} characters from A-Z a-z 0-9 . _ : -, got ${JSON.stringify(key)}`,
      ];
  const json = readMessageJson(Buffer.from(body).toString('utf8'));
  if (json.kind === 'fault') return { faults: [...faults, json.fault.replace('message: ', 'the request: ')] };
  const parsed = checkedBy(inboxSchema, json.value);
  const describePath = (path: readonly PropertyKey[]) => path.join('.') || 'the request';
  if (!parsed.success)
    return { faults: [...faults, ...faultsOf(parsed.error, json.value, { describePath })] };
  if (faults.length > 0) return { faults };
  const { object, text, id, columns, encoding, separator, wholeRows, maxCalls, ...request } = parsed.data;
  return { batch, object, text, id, columns, encoding, separator, wholeRows, maxCalls, request };
}

const batchOf = (key: string) => key.replace(/^inbox\//, '').replace(/\.json$/, '');
