/** The operations that each kind of work needs. Each count is measured, follows from a rule of the code, or is estimated. */
export const counts = {
  /**
   * Measured (docs/measurements.md): two writes and a put. By rule: a message is sent, received and deleted, and the
   * end of the job is an event. Estimated: a second for the call, and the log lines of an invocation.
   */
  job: { writes: 2, puts: 1, events: 1, sqsRequests: 3, lambdaSeconds: 1, logBytes: 2_000 },
  /** Measured (docs/measurements.md, from the dollars): a text is read more than once if several workers score. */
  text: { writes: 2, reads: 2.7, logBytes: 20 },
  /** By rule (lib/pace): one write of the pace reserves the calls of a quarter of a second; for texts at most four. */
  callsInBlock: { seconds: 0.25, most: 4 },
  /** By rule: each invocation with texts adds their number to the row of the day. Estimated: one chunk per invocation. */
  scoredInDay: { writes: 1, reads: 1 },
  /**
   * Estimated: one failed job a day. By rule: its metric has data in one hour, a query finds it for three, and there is
   * one notification when the problem begins and one when it ends.
   */
  problem: { hours: 1, hoursInQuery: 3, emails: 2 },
  /** By rule: a chunk is one message. Its texts are staged, and it writes a part and an outcome. */
  textsInChunk: 100,
  putsInChunk: 3,
  /** By rule: snapshots reserve one slot at a time. */
  snapshotRequest: { writes: 1 },
  /** By rule: a part is closed after at most 30 s, with a checkpoint, and publishing writes it again. */
  partSeconds: 30,
  putsInPart: 3,
  /** Estimated, for each run, in addition to its parts: manifests, changes, tags of the previous run, latest.json. */
  putsInRun: 10,
  /** By rule (lib/snapshot/durable/durable-snapshot.ts); operations and log lines of a run outside its slices are estimated. */
  sliceSeconds: 180,
  operationsInRun: 8,
  /** Estimated: the bytes that a durable operation stores for a week, after which the execution is deleted. */
  durableBytes: 5_000,
  logBytesInRun: 10_000,
  /** The hourly check for missing snapshots. By rule: what it reads for each place. It writes once a day. */
  look: { seconds: 1, readsOfPlace: 1, reads: 1, logBytes: 1_500 },
  /**
   * The hourly check for jobs on queues that are turned off. By rule: two long polls of a second, and counts, for each
   * of the two queues.
   */
  move: { seconds: 4.5, sqsRequests: 6, logBytes: 1_200 },
  /**
   * The check for publications that the report does not show. By rule: it reads the report, its last turn,
   * `latest.json` of each source, and the sent digests of each place with a digest; it lists places every three hours.
   * Estimated: seconds.
   */
  report: { seconds: 0.5, reads: 7, readsOfPlace: 1, listsInHour: 8 / 3, logBytes: 1_200 },
  /**
   * Writing a report. Measured (docs/measurements.md): seconds per record, for the first report after a publication. By
   * rule: puts, and reads of at most the last 30 days (lib/report/collect). Estimated: other reads and other seconds.
   */
  writtenReport: {
    seconds: 5,
    secondsOfRecord: 0.000_006,
    secondsOfObject: 0.001,
    puts: 4,
    reads: 100,
    maxResults: 10_000,
    maxParts: 3_000,
  },
  /**
   * A night in which tables are written, without the reads of jobs and chunks. Estimated: seconds without records,
   * files with their records, and lists. Measured (docs/measurements.md, with tables): seconds per record. By rule: two
   * files a part, and two tables with a partition a run.
   */
  tables: {
    seconds: 20,
    secondsOfObject: 0.002,
    secondsOfRecord: 0.000_02,
    puts: 20,
    putsInPart: 2,
    partitionsInRun: 2,
    glueRequestsInRun: 10,
    lists: 200,
    logBytes: 2_000,
  },
  /** By rule (the definitions of the sources): the records in one response of each list. */
  pageRecords: { calculations: 5_000, files: 1_000 },
  /** By rule of Lambda: an event source mapping has five pollers, each with three long polls a minute. */
  pollsInMonth: 5 * 3 * 60 * 730,
  /** By rule: the token is read again after five minutes, and DynamoDB uses the table's key equally often. */
  minutesOfKey: 5,
  /** By rule of S3: creating, expiring and erasing an object are three events. */
  eventsOfObject: 3,
  /** Estimated: a record compressed, as sent by the platform, and in Parquet with its uses (a share of the compressed size). */
  bytesInRecord: 150,
  bytesOnWire: 600,
  shareInParquet: 0.8,
  /**
   * Estimated: the result of a job, the stored result of a text, the access log of an S3 request, a report with its
   * figures, and a checkpoint.
   */
  bytesInResult: 1_000,
  bytesOfText: 200,
  bytesOfAccess: 500,
  bytesInReport: 2_000_000,
  bytesInCheckpoint: 5_000,
  /** Estimated: a job row, or the row of a scored text. */
  bytesInRow: 600,
} as const;

/** Days and hours in a month, as CloudWatch counts them. */
export const NIGHTS = 30;
export const HOURS = 730;
