/** What work needs, each with its source. A change of the code that changes one of them changes it here. */
export const counts = {
  /** docs/jobs.md, "What a job costs": three writes and a put, and a write of the pace for about four calls. */
  job: { writes: 3.25, reads: 0, puts: 1, events: 1, sqsRequests: 3, lambdaSeconds: 1, logBytes: 600 },
  /** docs/jobs.md: 2.03 writes and 1.03 reads a text, measured with two workers; a share of the pace's writes. */
  text: { writes: 2.28, reads: 1.03, logBytes: 20 },
  /** Texts in a chunk, which is one message and one part: lib/jobs. */
  textsInChunk: 100,
  /** Snapshots take one slot at a time: a write for each request. */
  snapshotRequest: { writes: 1 },
  /** A part is closed after 30 s at the latest, with a checkpoint: two puts; publishing writes each part again. */
  partSeconds: 30,
  putsInPart: 3,
  /** Of each run besides its parts: manifests, changes, the tags of the run before, latest.json. */
  putsInRun: 10,
  /** A slice takes three minutes: lib/snapshot/durable/durable-run.ts. */
  sliceSeconds: 180,
  operationsInRun: 8,
  logBytesInRun: 10_000,
  /** Records in a response of each list: the sources' definitions. */
  pageRecords: { calculations: 5_000, files: 1_000 },
  /** Five pollers of an event source mapping, each with three long polls a minute. Source: AWS's guide of SQS and Lambda. */
  pollsInMonth: 5 * 3 * 60 * 730,
  /** With gzip: docs/speed.md. */
  bytesInRecord: 150,
  /** A row of the ledger and of a scored text, with its index. */
  bytesInRow: 600,
} as const;

/** Days and hours as CloudWatch counts a month. */
export const NIGHTS = 30;
export const HOURS = 730;
