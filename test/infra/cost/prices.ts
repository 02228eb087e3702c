/** The date on which these prices were read, and their region. Tiers for very large amounts are left out. */
export const PRICED = { on: '2026-11-21', region: 'us-east-1' } as const;

const MILLION = 1_000_000;

/** US dollars for one unit of each item, on demand. Sources: the pricing pages of the services. */
export const prices = {
  /** A metric that an alarm evaluates, per month. An alarm on an expression costs as much as its metrics together. */
  alarmMetric: 0.1,
  /** A custom metric, per month. It is charged for the hours in which it has data. */
  customMetric: 0.3,
  dashboard: 3,
  logGb: 0.5,
  logStoredGb: 0.03,
  secret: 0.4,
  secretRequest: 0.05 / 10_000,
  /** A request to KMS. An AWS-managed key also charges for requests, though it is free itself. */
  kmsRequest: 0.03 / 10_000,
  scheduleRun: 1 / MILLION,
  /** An e-mail of a topic. */
  email: 2 / 100_000,
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2 / MILLION,
  durableOperation: 8 / MILLION,
  durableWrittenGb: 0.25,
  durableStoredGb: 0.15,
  sqsRequest: 0.4 / MILLION,
  dynamoWrite: 0.625 / MILLION,
  dynamoRead: 0.125 / MILLION,
  dynamoGb: 0.25,
  recoveryGb: 0.2,
  s3Write: 5 / MILLION,
  s3Read: 0.4 / MILLION,
  s3Gb: 0.023,
  /** Intelligent-Tiering: the tiers for objects not read for 30 and for 90 days, and the monitoring of an object. */
  tierSecondGb: 0.0125,
  tierThirdGb: 0.004,
  tierObject: 0.0025 / 1_000,
  tierMove: 0.01 / 1_000,
  /** Events that S3 or a function sends to EventBridge. */
  event: 1 / MILLION,
  /** A table or a partition of the catalog, per month. */
  glueObject: 1 / 100_000,
  glueRequest: 1 / MILLION,
  natHour: 0.045,
  natGb: 0.045,
  addressHour: 0.005,
  /** An interface endpoint in one zone, per hour. */
  endpointHour: 0.01,
} as const;

/** The names of priced items. */
export type Priced = keyof typeof prices;

/** The permanent free tier of each account and month, which other stacks of the account use too. */
export const freeEachMonth: Readonly<Partial<Record<Priced, number>>> = {
  alarmMetric: 10,
  customMetric: 10,
  logGb: 5,
  lambdaGbSecond: 400_000,
  lambdaRequest: MILLION,
  sqsRequest: MILLION,
  dynamoGb: 25,
  dashboard: 3,
  kmsRequest: 20_000,
  scheduleRun: 14 * MILLION,
  email: 1_000,
  glueObject: MILLION,
  glueRequest: MILLION,
};
