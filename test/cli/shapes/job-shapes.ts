import * as z from 'zod/mini';
import { byName, count, id, moment, orNull, text } from './common.ts';

const error = z.looseObject({ kind: text, message: text });

const row = {
  id,
  type: orNull(text),
  state: text,
  attempts: count,
  startedAt: orNull(moment),
  finishedAt: orNull(moment),
};

/** The object under `results/`. */
const result = z.looseObject({
  version: z.literal(1),
  id,
  type: text,
  status: z.enum(['done', 'failed', 'unknown']),
  attempts: count,
});

/** With an id, what is known of a job without a result. */
const known = z.strictObject({
  ...row,
  sender: orNull(text),
  leaseUntil: orNull(moment),
  outcome: z.optional(z.unknown()),
});

/** A list; with an id the job's result, or what is known of it. */
export const jobs = z.union([z.array(z.strictObject({ ...row, error: orNull(error) })), result, known]);

const cancelled = z.array(z.strictObject({ id, became: text, state: text, isCancelled: z.boolean() }));

/** A list, or with `--batch` an object. */
export const jobsCancel = z.union([
  cancelled,
  z.strictObject({ batch: text, chunks: count, ended: count, isSplit: z.boolean(), jobs: cancelled }),
]);

export const jobsResolve = z.strictObject({ id, became: text, state: text });

export const jobsResults = z.strictObject({
  file: text,
  results: count,
  byStatus: byName(count),
  broken: count,
});

export const redrive = z.looseObject({
  opened: z.array(id),
  left: z.array(z.strictObject({ id, state: text })),
  notSent: z.array(z.strictObject({ id, error: text })),
  unknown: z.array(id),
  movedBack: orNull(count),
  held: orNull(count),
});

export const run = z.union([
  z.strictObject({ file: text, rows: count, dryRun: z.literal(true) }),
  z.strictObject({
    file: text,
    rows: count,
    done: count,
    failed: count,
    unknown: count,
    left: count,
    output: orNull(text),
    notDone: z.array(z.strictObject({ id, status: z.enum(['failed', 'unknown']), reason: text })),
  }),
]);

export const submit = z.union([
  z.strictObject({ dryRun: z.literal(true), sent: z.literal(0), ids: z.array(id) }),
  z.strictObject({ sent: count, ids: z.array(id), notSent: z.array(id) }),
]);

export const work = z.strictObject({
  done: count,
  failed: count,
  unknown: count,
  refused: count,
  handedBack: count,
  notHandled: count,
});

const badRows = z.array(z.looseObject({ line: count, fault: text, id: z.optional(id) }));

/** `bad` counts the bad rows of a source, `badRows` lists the first of them, everywhere. */
const preview = { rows: count, bad: count, texts: count, cached: count, calls: count, seconds: z.number() };

const sentiments = byName(count);

const summary = z.looseObject({
  version: z.literal(1),
  batch: text,
  chunks: count,
  rows: count,
  scored: count,
  failed: count,
  bad: count,
  erased: count,
  cached: count,
  calls: count,
  paidAgain: count,
  tokens: z.looseObject({ input: count, output: count, total: count, reasoning: count }),
  sentiments: z.strictObject({ overall: sentiments, topics: byName(sentiments) }),
  badRows,
  parts: z.array(z.strictObject({ key: text, rows: count })),
  output: z.optional(z.strictObject({ file: text, rows: count })),
});

/** The summary of a batch; with `--dry-run` what it would take; if it is refused, why, and what it would take. */
export const score = z.union([
  summary,
  z.looseObject({ dryRun: z.literal(true), ...preview, badRows, refused: z.array(text) }),
  z.strictObject({ refused: z.array(text), preview: z.looseObject(preview) }),
]);

/** Null as long as it is not known. */
const batch = {
  batch: text,
  status: z.enum(['done', 'open', 'unfinished']),
  chunks: orNull(count),
  chunksEnded: count,
  rows: orNull(count),
  rowsLeft: orNull(count),
  secondsLeft: orNull(count),
  scored: count,
  failed: count,
  cancelled: count,
  bad: count,
  erased: count,
};

const failedRow = z.looseObject({ line: count, id: z.optional(id), error: text });

/** A list; with the name of a batch an object, with the first rows that failed. */
export const batches = z.union([
  z.array(z.strictObject(batch)),
  z.strictObject({ ...batch, failures: z.array(failedRow) }),
]);

export const forget = z.strictObject({
  cacheRows: count,
  stagedChunks: count,
  parts: count,
  rows: count,
  batches: z.array(text),
  oldVersions: count,
});
