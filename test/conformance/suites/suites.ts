import { oneOf } from '../../proofs/usage.ts';
import { dynamoDbLocal } from '../engines/dynamodb-local.ts';
import { elasticMq } from '../engines/elasticmq.ts';
import type { Engine } from '../engines/engine.ts';
import { minio } from '../engines/minio.ts';
import { moto, motoObjects } from '../engines/moto.ts';
import { nodes } from '../engines/nodes.ts';
import { cfnLint, cronValidator, eventRuler, pythonReaders, spark } from '../engines/programs.ts';
import { runtimeClient } from '../engines/runtime-client.ts';
import { trino } from '../engines/trino.ts';
import { versitygw } from '../engines/versitygw.ts';

/** Test files that run once with these engines in place of the local AWS. One row of the table. */
export type Run = {
  /** They run at the same time, each for a service of its own. */
  readonly engines: readonly [Engine, ...Engine[]];
  /** Paths of test files from the root of the repository. */
  readonly files: readonly string[];
};

/** What `npm run conformance NAME` runs. */
type Suite = readonly Run[];

/** Everything that depends on what DynamoDB does with conditions and concurrent writes, killed processes too. */
const dynamodb: Suite = [
  {
    engines: [dynamoDbLocal],
    files: [
      'test/table/table.test.ts',
      'test/table/dynamo-table.test.ts',
      'test/table/lost-responses.test.ts',
      'test/jobs/ledger/ledger.test.ts',
      'test/pace/dynamo-budget.test.ts',
      'test/cli/score.test.ts',
    ],
  },
  {
    engines: [dynamoDbLocal],
    files: [
      'test/functions/run-jobs.process.test.ts',
      'test/functions/split-texts.process.test.ts',
      'test/jobs/killed-worker.process.test.ts',
    ],
  },
];

/** What synth accepts as patterns and crons, and which events match. */
const events: Suite = [
  { engines: [eventRuler], files: ['test/infra/event-pattern/event-pattern.conformance.ts'] },
  { engines: [cronValidator], files: ['test/infra/cron.conformance.ts'] },
];

/** The deployed bundles, run as Lambda runs them: what they print reaches the log as it is. */
const lambda: Suite = [{ engines: [runtimeClient], files: ['test/functions/log-format.conformance.ts'] }];

/** The package, installed from the registry into an empty project. Three Nodes install it. */
const packaged: Suite = [
  {
    engines: [nodes],
    files: ['test/package/package.conformance.ts'],
  },
];

/** What docs/tables.md says of other readers. */
const readers: Suite = [
  { engines: [pythonReaders], files: ['test/tables/readers.conformance.ts'] },
  { engines: [spark], files: ['test/tables/readers.conformance.ts'] },
];

const S3_FILES = [
  'test/store/s3.test.ts',
  'test/store/open.test.ts',
  'test/cli/snapshot-s3.test.ts',
  'test/cli/forget-s3.test.ts',
];

/**
 * Objects, conditional writes, uploads in parts and lists, with and without versions.
 */
const s3: Suite = [
  { engines: [motoObjects], files: S3_FILES },
  { engines: [versitygw], files: S3_FILES },
  { engines: [minio], files: [...S3_FILES, 'test/infra/role-policies.conformance.ts'] },
];

/** The token's secret, the events of jobs that ended, the messages of event rules, and the partitions of published runs. */
const services: Suite = [
  {
    engines: [moto],
    files: [
      'test/conformance/services/token-secret.conformance.ts',
      'test/conformance/services/token-parameter.conformance.ts',
      'test/conformance/services/finished-events.conformance.ts',
      'test/infra/event-rules.conformance.ts',
      'test/conformance/services/partitions.conformance.ts',
    ],
  },
];

/** The tables and saved queries in Athena's place. */
const sql: Suite = [
  {
    engines: [moto, trino],
    files: ['test/conformance/sql/sql.conformance.ts'],
  },
];

const SQS_FILES = [
  'test/jobs/queue/queue.test.ts',
  'test/conformance/sqs/limits.conformance.ts',
  'test/cli/submit.test.ts',
  'test/cli/work.test.ts',
  'test/cli/jobs.test.ts',
];

/** What queues do with messages, and the commands that send, receive, hide and redrive them. */
const sqs: Suite = [
  { engines: [elasticMq], files: SQS_FILES },
  { engines: [moto], files: SQS_FILES },
];

/** The templates of several configurations, each in several regions. */
const templates: Suite = [{ engines: [cfnLint], files: ['test/infra/template.conformance.ts'] }];

/** Thousands of jobs on all of them together. The queues are those of ElasticMQ, which takes moto's place there. */
const whole: Suite = [
  {
    engines: [moto, elasticMq, dynamoDbLocal, versitygw],
    files: ['test/conformance/whole/whole.conformance.ts'],
  },
];

/**
 * Every suite by the name that `npm run conformance` takes: one import and one line add one. The longest come first, so
 * that none of them is left alone at the end.
 */
const suites = {
  whole,
  sql,
  package: packaged,
  readers,
  dynamodb,
  s3,
  sqs,
  services,
  events,
  lambda,
  templates,
} as const satisfies Readonly<Record<string, Suite>>;

export type SuiteName = keyof typeof suites;

export type Chosen = { readonly suite: SuiteName; readonly run: Run };

const NAMES = Object.keys(suites) as readonly SuiteName[];

/** The runs of the suites that are named: of all if none is. Throws for a wrong name. */
export function choose(names: readonly string[]): readonly Chosen[] {
  const chosen = names.map((name) => oneOf('suite', name, NAMES));
  return NAMES.filter((name) => chosen.length === 0 || chosen.includes(name)).flatMap((suite) =>
    suites[suite].map((run) => ({ suite, run })),
  );
}
