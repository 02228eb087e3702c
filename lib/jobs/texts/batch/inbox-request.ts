import * as z from 'zod/mini';
import { checkedBy, faultsOf, filledText, wholeNumber } from '../../../base/index.ts';
import { isKey, keySegment, printStored, type Store } from '../../../store/index.ts';
import { readMessageJson } from '../../message/check-message.ts';
import { scoringFields } from '../../types/score/message.ts';
import { isBatchName, LONGEST_BATCH_NAME, type ScoreRequest } from './batch.ts';

const inboxSchema = z.strictObject(
  {
    object: z
      .string({ error: 'the key of an object in the store' })
      .check(z.refine(isKey, { error: 'the key of an object in the store' })),
    text: filledText,
    id: z.optional(filledText),
    columns: z.optional(
      z
        .array(filledText, { error: 'a list of column names' })
        .check(z.refine((names) => new Set(names).size === names.length, { error: 'each column only once' })),
    ),
    ...scoringFields,
    maxCalls: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  },
  { error: 'an object' },
);

/**
 * What an object `inbox/BATCH.json` requests: `object` is the key of the texts in the store; `text`, `id` and `columns` are
 * names of columns, of the text, of the user's id, and of those to copy into the results.
 */
type InboxRequest = Omit<z.infer<typeof inboxSchema>, keyof ScoreRequest> & {
  readonly batch: string;
  readonly request: ScoreRequest;
};

export type RefusedInbox = {
  readonly kind: 'refused';
  /** The key of the request. */
  readonly key: string;
  readonly faults: readonly string[];
};

export type ParsedInbox = { readonly kind: 'request'; readonly request: InboxRequest } | RefusedInbox;

/** Parses a request, and reports all of its faults at once. `key` is that of the object, and names the batch. */
export function parseInboxRequest(key: string, body: Uint8Array): ParsedInbox {
  const batch = batchOf(key);
  const faults: string[] = [];
  if (!isBatchName(batch))
    faults.push(
      `key: expected inbox/BATCH.json, with a batch name of 1 to ${LONGEST_BATCH_NAME} of A-Z a-z 0-9 . _ : -, got ${JSON.stringify(key)}`,
    );
  const json = readJson(body);
  const parsed = json.kind === 'json' ? checkedBy(inboxSchema, json.value) : undefined;
  if (json.kind === 'fault') faults.push(json.fault);
  else if (parsed?.success === false) {
    const place = (path: readonly PropertyKey[]) => path.join('.') || 'the request';
    faults.push(...faultsOf(parsed.error, json.value, { place }));
  }
  if (faults.length > 0 || !parsed?.success) return { kind: 'refused', key, faults };
  const { object, text, id, columns, maxCalls, ...request } = parsed.data;
  return { kind: 'request', request: { batch, object, text, id, columns, maxCalls, request } };
}

/** Reports a refused request, with the reasons, in `refused/inbox-BATCH.json`. Returns that key. */
export async function writeRefusedInbox(
  store: Store,
  { key, faults }: Pick<RefusedInbox, 'key' | 'faults'>,
): Promise<string> {
  // An invalid batch name may contain anything.
  const name = batchOf(key)
    .replace(/[^A-Za-z0-9._:-]/g, '_')
    .slice(0, LONGEST_BATCH_NAME);
  const refusedKey = `refused/inbox-${keySegment(name)}.json`;
  await store.put(refusedKey, printStored({ version: 1, key, faults }));
  return refusedKey;
}

const batchOf = (key: string) => key.replace(/^inbox\//, '').replace(/\.json$/, '');

/** The value of a request, which is no larger or deeper than the messages that are made from it. */
function readJson(body: Uint8Array) {
  const read = readMessageJson(Buffer.from(body).toString('utf8'));
  return read.kind === 'json' ? read : { ...read, fault: read.fault.replace('message: ', 'the request: ') };
}
