import { createHash } from 'node:crypto';
import type { ScoreCache } from '../cache/score-cache.ts';
import type { ScoreRequest } from './batch.ts';
import { checkedRows, isBad, type SourceRow } from './chunks.ts';

/** What a batch will take, before anything is sent. */
export type Preview = {
  /** All rows of the source, including bad ones. */
  readonly rows: number;
  readonly badRows: number;
  /** Distinct texts. */
  readonly texts: number;
  /** Those of them whose result is in the cache. */
  readonly cached: number;
  /** Calls to be made: one for each of the others. */
  readonly calls: number;
  /** How long the calls take at the given rate. */
  readonly seconds: number;
};

export type PreviewOptions = {
  /** Opens the rows from the beginning. */
  readonly rows: () => AsyncIterable<SourceRow>;
  readonly request: ScoreRequest;
  readonly cache: ScoreCache;
  /** Requests per second. */
  readonly rate: number;
  /** The most distinct texts whose hashes a pass may hold. Default 500,000, about 50 MB. */
  readonly mostHeld?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Counts what a batch will take. Memory is bounded: each pass reads the rows once, and holds only the hashes in its
 * range. A range that turns out to be too full is halved during the pass, and the next pass starts where it ends; half
 * a million distinct texts need one pass.
 */
export async function previewBatch(options: PreviewOptions): Promise<Preview> {
  let counted = { texts: 0, cached: 0 };
  let rows = { rows: 0, badRows: 0 };
  for (let from = 0; from < HASH_SPACE; ) {
    const pass = await countRange(from, options);
    rows = pass.rows;
    counted = { texts: counted.texts + pass.texts, cached: counted.cached + pass.cached };
    from = pass.to;
  }
  const calls = counted.texts - counted.cached;
  return { ...rows, ...counted, calls, seconds: Math.ceil(calls / options.rate) };
}

/** Counts only the rows, an upper bound for the calls: reads them once and does not look at the cache. */
export async function countRows(source: AsyncIterable<SourceRow>, signal?: AbortSignal): Promise<number> {
  let rows = 0;
  for await (const _ of source) {
    signal?.throwIfAborted();
    rows += 1;
  }
  return rows;
}

const MOST_HELD = 500_000;
/** Ranges are over the first 32 bits of a hash. */
const HASH_SPACE = 2 ** 32;
/** How many texts are looked up at once. */
const LOOKED_UP = 50;

async function countRange(from: number, options: PreviewOptions) {
  const { request, cache, mostHeld = MOST_HELD, signal } = options;
  let to = HASH_SPACE;
  /** Texts in the range, and whether each has a result. */
  const held = new Map<string, { readonly hash: number; isCached: boolean }>();
  let lookups: Promise<void>[] = [];
  let [rows, badRows] = [0, 0];
  for await (const row of checkedRows(options.rows())) {
    signal?.throwIfAborted();
    rows += 1;
    if (isBad(row)) {
      badRows += 1;
      continue;
    }
    const { name, hash } = shortHash(row.text);
    if (hash < from || hash >= to || held.has(name)) continue;
    const entry = { hash, isCached: false };
    held.set(name, entry);
    lookups.push(
      cache.find({ ...request, text: row.text }).then((result) => {
        entry.isCached = result !== undefined;
      }),
    );
    if (lookups.length >= LOOKED_UP) {
      await Promise.all(lookups);
      lookups = [];
    }
    while (held.size > mostHeld && to - from > 1) {
      to = from + Math.ceil((to - from) / 2);
      for (const [other, { hash: at }] of held) if (at >= to) held.delete(other);
    }
  }
  await Promise.all(lookups);
  const cached = [...held.values()].filter(({ isCached }) => isCached).length;
  return { to, texts: held.size, cached, rows: { rows, badRows } };
}

/** 128 bits of a text's SHA-256: enough to tell texts apart, in half the memory. */
function shortHash(text: string): { readonly name: string; readonly hash: number } {
  // As JSON, which keeps lone surrogates apart; UTF-8 does not.
  const digest = createHash('sha256').update(JSON.stringify(text)).digest();
  return { name: digest.toString('latin1', 0, 16), hash: digest.readUInt32BE(0) };
}
