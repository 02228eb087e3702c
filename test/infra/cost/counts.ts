/** The operations that work needs. Each count says whether it is measured, follows from a rule of the code, or is estimated. */
export const counts = {
  /**
   * Measured (docs/measurements.md): two writes and a put. By rule: a message is sent, received and deleted, and its end is an
   * event. Estimated: a second for the call, and the lines of an invocation.
   */
  job: { writes: 2, puts: 1, events: 1, sqsRequests: 3, lambdaSeconds: 1, logBytes: 2_000 },
  /** Measured (docs/measurements.md, by its dollars): each text is looked up more than once where several score. */
  text: { writes: 2, reads: 2.7, logBytes: 20 },
  /** By rule (lib/pace): calls that one write of the pace is for, those of a quarter of a second; of texts four at most. */
  callsInBlock: { seconds: 0.25, most: 4 },
  /** By rule: each invocation with texts adds them to the row of the day; estimated: one chunk in each. */
  scoredInDay: { writes: 1, reads: 1 },
  /**
   * Estimated: a job a day that fails. By rule: its metric has data in one hour, a query sees it for three, and it is
   * notified when it comes and when it is over.
   */
  problem: { hours: 1, hoursInQuery: 3, emails: 2 },
  /** By rule: a chunk is one message; its texts are staged, and it writes a part and an outcome. */
  textsInChunk: 100,
  putsInChunk: 3,
  /** By rule: snapshots take one slot at a time. */
  snapshotRequest: { writes: 1 },
  /** By rule: a part is closed after 30 s at the latest, with a checkpoint, and publishing writes it again. */
  partSeconds: 30,
  putsInPart: 3,
  /** Estimated, of each run besides its parts: manifests, changes, tags of the run before, latest.json. */
  putsInRun: 10,
  /** By rule (lib/snapshot/durable/durable-snapshot.ts); operations and lines of a run besides its slices are estimated. */
  sliceSeconds: 180,
  operationsInRun: 8,
  /** Estimated: what a durable operation stores, for the week that an execution is kept. */
  durableBytes: 5_000,
  logBytesInRun: 10_000,
  /** Of each look for missing snapshots. By rule: what is read of each place, and since when; it is written once a day. */
  look: { seconds: 1, readsOfPlace: 1, reads: 1, logBytes: 1_500 },
  /** Of each look for jobs on queues that are turned off. By rule: two long polls of a second, and counts, of both queues. */
  move: { seconds: 4.5, sqsRequests: 6, logBytes: 1_200 },
  /**
   * Of each look for what the report does not show. By rule: the report, its last turn and `latest.json` of each source
   * are read, and of each place with a digest what was sent; places are listed every three hours. Estimated: seconds.
   */
  report: { seconds: 0.5, reads: 7, readsOfPlace: 1, listsInHour: 8 / 3, logBytes: 1_200 },
  /**
   * Of each report. Measured (docs/measurements.md): seconds of a record, of the first report after a publication. By rule:
   * puts, and what is read of the last 30 days at most (lib/report/collect). Estimated: what else is read, and seconds
   * besides.
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
   * Of each night in which tables are written, besides what is read of jobs and chunks. Estimated: seconds without any,
   * files with their records, and listings. Measured (docs/measurements.md, with tables): seconds of a record. By rule:
   * two files a part, and two tables with a partition a run.
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
  /** By rule: records in a response of each list, in the definitions of the sources. */
  pageRecords: { calculations: 5_000, files: 1_000 },
  /** By rule of Lambda: five pollers of a mapping, each with three long polls a minute. */
  pollsInMonth: 5 * 3 * 60 * 730,
  /** By rule: the token is read again after five minutes, and DynamoDB asks for the table's key as often. */
  minutesOfKey: 5,
  /** By rule of S3: an object that expires is created, marked as deleted, and erased, and each is an event. */
  eventsOfObject: 3,
  /** Estimated, compressed; as the platform sends it; and in Parquet with its uses, as a share of what is compressed. */
  bytesInRecord: 150,
  bytesOnWire: 600,
  shareInParquet: 0.8,
  /** Estimated: the result of a job, what is stored of a text, the log of a request of S3, a report with its figures, and a checkpoint. */
  bytesInResult: 1_000,
  bytesOfText: 200,
  bytesOfAccess: 500,
  bytesInReport: 2_000_000,
  bytesInCheckpoint: 5_000,
  /** Estimated: a row of the ledger, or of a scored text. */
  bytesInRow: 600,
} as const;

/** Days and hours as CloudWatch counts a month. */
export const NIGHTS = 30;
export const HOURS = 730;
