import type { SuiteName } from './suites/suites.ts';

/** A test that an engine fails by a fault of its own. A run fails as soon as such a test passes, or is gone. */
export type KnownDifference = {
  readonly suite: SuiteName;
  /** The engine's name as in the table of the run; several are joined by ` + `. */
  readonly engine: string;
  /** The whole name, the names of its groups first, each after a blank. */
  readonly test: string;
  /** What AWS documents. */
  readonly reason: string;
  /** What the engine does instead. */
  readonly does: string;
};

const characters = {
  suite: 'sqs',
  engine: 'moto',
  reason:
    'A message may have #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to #x10FFFF, and no other characters (SendMessage).',
  does: 'It accepts every character.',
} as const;

const twelveHours = {
  suite: 'sqs',
  engine: 'ElasticMQ',
  reason:
    'A message is hidden for at most 12 hours in all, from when it was received (ChangeMessageVisibility).',
  does: 'It hides a message for as long as it is asked to, though its limits are strict.',
} as const;

export const knownDifferences: readonly KnownDifference[] = [
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'an emoji without regard to case',
    reason: 'A character equals itself.',
    does: 'It compares the two 16-bit halves of the character one by one, each as a question mark.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'a range with a second slash',
    reason: 'CIDR notation has one slash.',
    does: 'It ignores slashes at the end.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'a range with a sign',
    reason: 'CIDR notation has a plain number of bits.',
    does: 'It reads the bits as Java reads numbers, with a sign.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'a number in a wide range of addresses',
    reason: 'A number is no address.',
    does: 'It compares the first digits of the number with the first hexadecimal digits of the range.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'an address of IPv4 in all of IPv6',
    reason: 'An address is in a range of its own family.',
    does: 'It compares the first hexadecimal digits of both, whatever their family.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'a number that is the hexadecimal form of an address',
    reason: 'A text is no number.',
    does: 'Where a pattern has an address, it compares the hexadecimal digits of addresses with all values.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'a value outside an array whose item has another at the same path',
    reason: 'A field matches if any of its values does, unless it comes from another item of the same array.',
    does: 'Its index finds only values from the item that matched before.',
  },
  {
    suite: 'events',
    engine: 'Event Ruler',
    test: 'an empty name within another',
    reason: 'A field matches by its name.',
    does: 'It never finds a field with an empty name in an object; synth refuses the name.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '*/60 2 * * ? *',
    reason: "Scheduler's parser, which has Quartz's syntax, refuses a step beyond its field.",
    does: 'It accepts any step.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '0 */24 * * ? *',
    reason: "Scheduler's parser, which has Quartz's syntax, refuses a step beyond its field.",
    does: 'It accepts any step.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '0 2 */32 * ? *',
    reason: "Scheduler's parser, which has Quartz's syntax, refuses a step beyond its field.",
    does: 'It accepts any step.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '0 2 ? */13 MON *',
    reason: "Scheduler's parser, which has Quartz's syntax, refuses a step beyond its field.",
    does: 'It accepts any step.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '0 *-5 * * ? *',
    reason: 'A range is documented between two values.',
    does: 'It accepts * as an end.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '0 5-* * * ? *',
    reason: 'A range is documented between two values.',
    does: 'It accepts * as an end.',
  },
  {
    suite: 'events',
    engine: 'aws-cron-expression-validator',
    test: '0 2 ? * L-3 *',
    reason: 'L is documented alone and after a day of the week.',
    does: 'It accepts a number after it.',
  },
  ...[
    'JobsRunJobsRole may not list old versions scores/',
    'JobsRunFunctionsRole may not list old versions scores/',
    'SnapshotsSnapshotRole may not list old versions work/',
    'TextsSplitTextsRole may not list old versions inbox/',
  ].map((test) => ({
    suite: 's3' as const,
    engine: 'MinIO',
    test,
    reason: 'ListObjectVersions requires s3:ListBucketVersions.',
    does: 'It also allows it to whoever may s3:ListBucket.',
  })),
  { ...characters, test: 'a message with U+FFFE is refused' },
  { ...characters, test: 'a message with U+FFFF is refused' },
  { ...characters, test: 'a message with U+0001 is refused' },
  { ...twelveHours, test: 'a message may be hidden for 12 hours at a time' },
  { ...twelveHours, test: 'the 12 hours count from when it was received' },
];
