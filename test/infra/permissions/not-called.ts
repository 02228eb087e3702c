import type { Grant } from './grants.ts';

type Reason = { readonly who?: RegExp; readonly action: RegExp; readonly on?: RegExp; readonly why: string };

/** The reasons for grants that no test uses. */
export const reasons: readonly Reason[] = [
  { action: /^logs:/, why: 'Lambda writes the logs with it' },
  { action: /^s3:AbortMultipartUpload$/, why: 'only after an upload in parts that failed' },
  { action: /^sqs:GetQueueUrl$/, why: 'the CDK gives it to what takes messages' },
  {
    action: /^sqs:SendMessage$/,
    on: /^RareDeadLetters$/,
    why: 'Lambda and EventBridge Scheduler send what they gave up',
  },
  { who: /^SchedulesRole$/, action: /^sqs:SendMessage$/, why: 'EventBridge Scheduler sends jobs with it' },
  {
    action: /^lambda:InvokeFunction$/,
    on: /:\*$/,
    why: 'the CDK gives it for versions, of which schedules name none',
  },
  {
    who: /Reader$/,
    action: /^(athena:|glue:Get)/,
    why: 'nothing here runs Athena; Trino runs its SQL in `npm run conformance -- sql`',
  },
  {
    who: /Reader$/,
    action: /^s3:/,
    on: /athena-results|^storagebucket$/,
    why: 'Athena writes and reads results with it',
  },
  { action: /Version$/, why: 'the local S3 keeps no old versions, which `forget` erases' },
  { action: /^cloudwatch:/, why: 'nothing here serves CloudWatch' },
  // Calls that happen too rarely for these tests.
  {
    action: /^s3:PutObject$/,
    on: /\/table\.json$/,
    why: 'whatever sends first on a stack names its table: here, another role',
  },
  {
    who: /^JobsRunJobsRole$|^JobsScoreTextsRole$|^TextsSplitTextsRole$/,
    action: /^(s3:\w+Object|dynamodb:DeleteItem)$/,
    on: /scores|StorageTable$/,
    why: 'of a chunk that is scored again or has bad rows only, and a text whose call was refused; S3 by `npm run conformance`',
  },
  {
    who: /^JobsRunFunctionsRole$|^JobsScoreTextsRole$/,
    action: /^(sqs:(SendMessage|ChangeMessageVisibility)|s3:(\w+Object|ListBucket)|secretsmanager:\w+)$/,
    why: 'the code of run-jobs, which does it by the role of its own queue',
  },
  {
    who: /^SnapshotsSnapshotRole$/,
    action: /^s3:(DeleteObject|PutObjectTagging)$/,
    why: 'another publisher was faster, or the run is the newest again; `npm run conformance` does it by the role',
  },
  {
    who: /^TablesWriteRole$/,
    action: /^(s3:DeleteObject|s3:PutObjectTagging|glue:(Delete|Update)Partition)$/,
    why: 'of runs that were withdrawn, or whose tables or tags are made again',
  },
  {
    who: /^ReportsWriteRole$/,
    action: /^s3:DeleteObject$/,
    why: 'a third model deletes the first one',
  },
  {
    who: /Operator$/,
    action: /^glue:UpdatePartition$/,
    why: 'of a run whose partition has another location',
  },
];

/** The reason why no test uses a grant; undefined if a test must use it. */
export const reasonFor = ({ who, action, on }: Grant): string | undefined =>
  reasons.find(
    (reason) =>
      reason.action.test(action) && (reason.who?.test(who) ?? true) && (reason.on?.test(on) ?? true),
  )?.why;
