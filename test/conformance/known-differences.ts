import type { SuiteName } from './suites/suites.ts';

/** A test that fails because an engine differs from AWS. A run fails once such a test passes or no longer exists. */
export type KnownDifference = {
  readonly suite: SuiteName;
  /** The engine's name as in the table of runs. Several are joined by ` + `. */
  readonly engine: string;
  /** The full name: the names of its groups and of the test, joined by spaces. */
  readonly test: string;
  /** What AWS documents. */
  readonly reason: string;
  /** What the engine does instead. */
  readonly does: string;
};

const ruler = (test: string, reason: string, does: string) =>
  ({ suite: 'events', engine: 'Event Ruler', test, reason, does }) as const;

const validator = (tests: readonly string[], reason: string, does: string) =>
  tests.map(
    (test) => ({ suite: 'events', engine: 'aws-cron-expression-validator', test, reason, does }) as const,
  );

export const knownDifferences: readonly KnownDifference[] = [
  ruler(
    'an emoji without regard to case',
    'A character equals itself.',
    'It compares the two 16-bit halves of the character one by one, each as a question mark.',
  ),
  ruler('a range with a second slash', 'CIDR notation has one slash.', 'It ignores slashes at the end.'),
  ruler(
    'a range with a sign',
    'CIDR notation has a plain number of bits.',
    'It reads the bits as Java reads numbers, with a sign.',
  ),
  ruler(
    'a number in a wide range of addresses',
    'A number is no address.',
    'It compares the first digits of the number with the first hexadecimal digits of the range.',
  ),
  ruler(
    'an address of IPv4 in all of IPv6',
    'An address is in a range of its own family.',
    'It compares the first hexadecimal digits of both, whatever their family.',
  ),
  ruler(
    'a number that is the hexadecimal form of an address',
    'A text is no number.',
    'Where a pattern has an address, it compares the hexadecimal digits of addresses with all values.',
  ),
  ruler(
    'a value outside an array whose item has another at the same path',
    'A field matches if any of its values does, unless it comes from another item of the same array.',
    'Its index finds only values from the item that matched before.',
  ),
  ruler(
    'an empty name within another',
    'A field matches by its name.',
    'It never finds a field with an empty name in an object; synth refuses the name.',
  ),
  ...validator(
    ['*/60 2 * * ? *', '0 */24 * * ? *', '0 2 */32 * ? *', '0 2 ? */13 MON *'],
    "Scheduler's parser, which has Quartz's syntax, refuses a step beyond its field.",
    'It accepts any step.',
  ),
  ...validator(
    ['0 *-5 * * ? *', '0 5-* * * ? *'],
    'A range is documented between two values.',
    'It accepts * as an end.',
  ),
  ...validator(
    ['0 2 ? * L-3 *'],
    'L is documented alone and after a day of the week.',
    'It accepts a number after it.',
  ),
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
];
