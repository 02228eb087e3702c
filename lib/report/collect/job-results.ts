import { adviceWords, batchOfJob } from '../../jobs/job-advice.ts';
import { parseJson } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { type JobFacts, MOST_LISTED } from '../facts.ts';
import { readAhead } from './ahead.ts';
import { createLargest } from './largest.ts';
import { newestResults, type ResultObject } from './result-keys.ts';
import { idIn, type Members, membersOf, NOT_STATED, shownText, sizeIn, textIn, timeIn } from './values.ts';

export type JobsToRead = {
  readonly store: Store;
  readonly nowMs: number;
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
  /** The most results that are read. Default: 10,000. */
  readonly most?: number;
};

export type JobsRead = {
  readonly jobs: JobFacts;
  /** When the last job of each batch ended, as far as their results were read. */
  readonly batchEnds: ReadonlyMap<string, number>;
};

type Attention = JobFacts['attention'][number];
type Status = 'done' | 'failed' | 'unknown';

/** The results of jobs of the last thirty days. */
export async function readJobs(options: JobsToRead): Promise<JobsRead> {
  const { store, addFault, signal } = options;
  const { objects, sinceMs, isCut } = await newestResults(options);
  const types = new Map<string, Record<Status, number>>();
  const attention = createLargest<Attention>(MOST_LISTED);
  const batchEnds = new Map<string, number>();
  const odd: string[] = [];
  for await (const { key, result } of readAhead(objects, (object) => readResult(store, object, signal))) {
    if (result === 'gone') continue;
    const status = statusOf(result);
    if (status === undefined) {
      odd.push(key);
      continue;
    }
    const type = shownText(textIn(result['type']) ?? NOT_STATED);
    const counts = types.get(type) ?? { done: 0, failed: 0, unknown: 0 };
    counts[status] += 1;
    types.set(type, counts);
    const finishedAt = timeIn(result['finishedAt']) ?? 0;
    const batch = batchOfJob(textIn(result['id']) ?? '');
    if (batch !== undefined) batchEnds.set(batch, Math.max(finishedAt, batchEnds.get(batch) ?? 0));
    if (status !== 'done')
      // Unknown ones before all failed ones.
      attention.add(
        finishedAt + (status === 'unknown' ? 1e15 : 0),
        attentionOf(result, { type, status, finishedAt }),
      );
  }
  if (odd.length > 0)
    addFault(
      `${odd[0]}: expected the result of a job, got something else; ${odd.length} such objects are left out`,
    );
  return {
    jobs: {
      sinceMs,
      isCut,
      types: [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, counts]) => ({ type, ...counts })),
      attention: attention.values().toSorted(unknownFirst),
    },
    batchEnds,
  };
}

const unknownFirst = (a: Attention, b: Attention): number =>
  a.status === b.status ? b.finishedAt - a.finishedAt : a.status === 'unknown' ? -1 : 1;

function statusOf({ status }: Members): Status | undefined {
  const name = textIn(status)?.toLowerCase();
  return name === 'done' || name === 'failed' || name === 'unknown' ? name : undefined;
}

function attentionOf(
  { id, attempts, error }: Members,
  {
    type,
    status,
    finishedAt,
  }: { readonly type: string; readonly status: 'failed' | 'unknown'; readonly finishedAt: number },
): Attention {
  const { kind, message } = membersOf(error);
  const name = shownText(idIn(id) ?? '');
  return {
    id: name,
    type,
    status,
    attempts: sizeIn(attempts) ?? 0,
    finishedAt,
    reason: shownText([textIn(kind), textIn(message)].filter((each) => each !== undefined).join(': ')),
    advice: adviceWords(name, status),
  };
}

/** What of a result is read: its response, which may be large, comes last. */
const MOST_BYTES = 256 * 1024;

/** `gone` if it was deleted meanwhile; no members if it is not a result. */
async function readResult(
  store: Store,
  { key, sizeBytes }: ResultObject,
  signal: AbortSignal,
): Promise<{ readonly key: string; readonly result: Members | 'gone' }> {
  if (sizeBytes > MOST_BYTES) return { key, result: headOf(await readHead(store, key, signal)) };
  const stored = await store.get(key, { signal });
  if (stored === undefined) return { key, result: 'gone' };
  return { key, result: headOf(stored.body) };
}

/** The first bytes of an object. */
async function readHead(store: Store, key: string, signal: AbortSignal): Promise<Buffer> {
  const enough = new AbortController();
  const stream = await store.stream(key, { signal: AbortSignal.any([signal, enough.signal]) });
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream ?? []) {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= MOST_BYTES) break;
    }
  } finally {
    enough.abort();
  }
  return Buffer.concat(pieces);
}

/** A text in JSON cannot hold this: its quotes would be escaped. */
const RESPONSE = Buffer.from(',"response":');

function headOf(bytes: Buffer): Members {
  const end = bytes.indexOf(RESPONSE);
  const text = end < 0 ? bytes.toString() : `${bytes.toString('utf8', 0, end)}}`;
  try {
    return membersOf(parseJson(text));
  } catch {
    return {};
  }
}
