/** A message as Lambda delivers it, and the keys under which the platform counts its work. */
export type RaceJob = { readonly record: RaceRecord; readonly keys: readonly string[] };

export type RaceRecord = ReturnType<typeof recordOf>;

export type Work = 'functions' | 'texts';

/** Pieces of work in one message. A batch of texts is split into chunks of 100. */
export const piecesInJob: Readonly<Record<Work, number>> = { functions: 1, texts: 100 };

/** Messages for at least this number of functions or texts, after one that opens everything. Another `name`: other work. */
export const raceJobs = (work: Work, name: string, count: number): readonly RaceJob[] =>
  Array.from({ length: 1 + Math.ceil(count / piecesInJob[work]) }, (_, index) =>
    jobs[work](`${name}-${index}`),
  );

const jobs: Readonly<Record<Work, (id: string) => RaceJob>> = { functions: functionJob, texts: textsJob };

function functionJob(id: string): RaceJob {
  const message = {
    type: 'run-function',
    packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
    packageVersion: '1.0.0',
    functionName: 'addNumbers',
    inputVariables: { job: id, first: 1, second: 2 },
  };
  return { record: recordOf(id, message), keys: [id] };
}

function textsJob(id: string): RaceJob {
  const keys = Array.from(
    { length: piecesInJob.texts },
    (_, index) => `Text ${index} of ${id}: the delivery was late, but fine.`,
  );
  return {
    record: recordOf(id, { type: 'score', texts: keys.map((text, index) => ({ id: String(index), text })) }),
    keys,
  };
}

/** The same message as it is redelivered. */
export const redelivered = (record: RaceRecord): RaceRecord => ({
  ...record,
  attributes: { ...record.attributes, ApproximateReceiveCount: '2' },
});

/** A record that was sent just now: one older than three days would be replaced by a copy, which nothing here receives. */
const recordOf = (id: string, message: object) => ({
  messageId: id,
  receiptHandle: `receipt of ${id}`,
  body: JSON.stringify({ version: 1, id, ...message }),
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: String(Date.now()),
    SenderId: 'AIDAEXAMPLE',
    ApproximateFirstReceiveTimestamp: String(Date.now()),
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:jobs',
  awsRegion: 'eu-central-1',
});
