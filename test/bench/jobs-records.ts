/** A message as Lambda delivers it, with what it asks for: the keys under which the platform counts its work. */
export type RaceJob = { readonly record: RaceRecord; readonly keys: readonly string[] };

export type RaceRecord = ReturnType<typeof recordOf>;

export type Work = 'functions' | 'texts';

/** How much one message asks for: a batch of texts is cut into chunks of 100. */
export const piecesInJob: Readonly<Record<Work, number>> = { functions: 1, texts: 100 };

/** Messages for this number of functions or texts, or a few more, after one that opens everything. Other names are other work. */
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

/** The same message when it is delivered again. */
export const redelivered = (record: RaceRecord): RaceRecord => ({
  ...record,
  attributes: { ...record.attributes, ApproximateReceiveCount: '2' },
});

/** Sent now: one that is three days old is replaced by a copy as it waits, and nobody here receives that. */
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
