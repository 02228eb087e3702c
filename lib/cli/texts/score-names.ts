import { basename } from 'node:path';
import { isBatchName, LONGEST_BATCH_NAME } from '../../jobs/texts/batch/batch.ts';
import { UsageError } from '../errors/usage-error.ts';

/** Checks the name of a batch, as typed for `place`. Throws `UsageError`. */
export function checkedBatch(name: string, place = '--batch'): string {
  if (isBatchName(name) && !name.startsWith('-')) return name;
  throw new UsageError(
    `${place}: expected 1 to ${LONGEST_BATCH_NAME} of A-Z a-z 0-9 . _ : -, not beginning with -, and not "." or "..", got ${JSON.stringify(name)}`,
  );
}

/** Checks the SHA-256 of a text, as typed, and returns it in lower case. Throws `UsageError`. */
export function checkedHash(hash: string): string {
  if (/^[0-9a-f]{64}$/i.test(hash)) return hash.toLowerCase();
  throw new UsageError(
    `--text-hash: expected a SHA-256, 64 hex digits, got ${JSON.stringify(hash.slice(0, 80))}`,
  );
}

/** The most characters of a file's name in a batch's name; the time takes another 17. */
const MOST_OF_FILE = 80;

/** A batch's name, made of its file and the time at which it starts: `reviews-20261121T091500Z`. */
export function batchNameOf(file: string, nowMs: number): string {
  const stem = basename(file).replace(/(\.(csv|tsv|ndjson|jsonl))?(\.gz)?$/i, '');
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${stem.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, MOST_OF_FILE)}-${time}`;
}
