import { oneOf } from '../../proofs/usage.ts';
import { dynamoDbLocal } from '../engines/dynamodb-local.ts';
import { elasticMq } from '../engines/elasticmq.ts';
import type { Engine } from '../engines/engine.ts';
import { miniStack } from '../engines/ministack.ts';
import { moto, motoObjects } from '../engines/moto.ts';
import { nodes } from '../engines/nodes.ts';
import { porcupine } from '../engines/porcupine.ts';
import {
  cfnLint,
  cronValidator,
  eventRuler,
  libreOffice,
  pythonCatalogs,
  pythonCsv,
  pythonReaders,
  spark,
} from '../engines/programs.ts';
import { runtimeClient } from '../engines/runtime-client.ts';
import { minio, versitygw } from '../engines/s3-servers.ts';
import { trino } from '../engines/trino.ts';

/** Test files that run once with these engines instead of the local AWS: one row of the table. */
export type Run = {
  /** The engines, which run at the same time, each for a different service. */
  readonly engines: readonly [Engine, ...Engine[]];
  /** Paths of test files from the root of the repository. */
  readonly files: readonly string[];
};

/** What `npm run conformance NAME` runs. */
type Suite = readonly Run[];

const on = (engines: Run['engines'], ...files: Run['files']): Run => ({ engines, files });

const S3_FILES = [
  'test/store/s3.test.ts',
  'test/store/open.test.ts',
  'test/cli/snapshot-s3.test.ts',
  'test/cli/forget-s3.test.ts',
];

const SQS_FILES = [
  'test/jobs/queue/queue.test.ts',
  'test/cli/submit.test.ts',
  'test/cli/work.test.ts',
  'test/cli/jobs.test.ts',
];

/** Every suite, by the name that `npm run conformance` takes. The longest come first, so that none runs alone at the end. */
const suites = {
  /** Thousands of jobs on several engines together. ElasticMQ serves the queues in place of moto. */
  whole: [on([moto, elasticMq, dynamoDbLocal, versitygw], 'test/conformance/whole/whole.conformance.ts')],
  /** The stack, deployed, used, updated and deleted. */
  stack: [on([miniStack], 'test/conformance/stack/stack.conformance.ts')],
  /** The tables and saved queries, in Trino in place of Athena. */
  sql: [on([moto, trino], 'test/conformance/sql/sql.conformance.ts')],
  /** The package, installed from the registry into an empty project by three versions of Node. */
  package: [on([nodes], 'test/package/package.conformance.ts')],
  /** The claims of docs/parquet.md about other readers. */
  readers: [
    on([pythonReaders], 'test/tables/readers.conformance.ts'),
    on([spark], 'test/tables/readers.conformance.ts'),
  ],
  /** The CSV that the commands and the page write. */
  outputs: [
    on([libreOffice], 'test/text/outputs.conformance.ts'),
    on([pythonCsv], 'test/text/outputs.conformance.ts'),
  ],
  /** The output of `lineage`. */
  catalogs: [on([pythonCatalogs], 'test/report/lineage/lineage.conformance.ts')],
  /** Everything that depends on DynamoDB's conditions and concurrent writes, including killed processes. */
  dynamodb: [
    on(
      [dynamoDbLocal],
      'test/table/table.test.ts',
      'test/table/dynamo-table.test.ts',
      'test/table/lost-responses.test.ts',
      'test/jobs/ledger/ledger.test.ts',
      'test/pace/stored-budget.test.ts',
      'test/cli/score.test.ts',
    ),
    on(
      [dynamoDbLocal],
      'test/functions/run-jobs.process.test.ts',
      'test/functions/split-texts.process.test.ts',
      'test/jobs/killed-worker.process.test.ts',
    ),
  ],
  /** Objects, conditional writes, uploads in parts and lists, with and without versions. */
  s3: [
    on([motoObjects], ...S3_FILES),
    on([versitygw], ...S3_FILES),
    on([minio], ...S3_FILES, 'test/infra/role-policies.conformance.ts'),
  ],
  /** Queues, and the commands that send, receive, hide and redrive messages. */
  sqs: [on([elasticMq], ...SQS_FILES), on([moto], ...SQS_FILES)],
  /** Places of the token, events of finished jobs, messages of event rules, and partitions of published runs. */
  services: [
    on(
      [moto],
      'test/conformance/services/tokens.conformance.ts',
      'test/conformance/services/finished-events.conformance.ts',
      'test/infra/event-rules.conformance.ts',
      'test/conformance/services/partitions.conformance.ts',
    ),
  ],
  /** Job rows, text rows and the budget under many clients, checked by a model that shares no code with them. */
  histories: [
    on([porcupine], 'test/conformance/histories/histories.conformance.ts'),
    on([porcupine, dynamoDbLocal], 'test/conformance/histories/histories.conformance.ts'),
  ],
  /** The event patterns and crons that synth accepts, and the events that match. */
  events: [
    on([eventRuler], 'test/infra/event-pattern/event-pattern.conformance.ts'),
    on([cronValidator], 'test/infra/cron.conformance.ts'),
  ],
  /** The deployed bundles, run as in Lambda: their output must reach the log unchanged. */
  lambda: [on([runtimeClient], 'test/functions/log-format.conformance.ts')],
  /** The templates of several configurations, each in several regions. */
  templates: [on([cfnLint], 'test/infra/template.conformance.ts')],
} satisfies Readonly<Record<string, Suite>>;

export type SuiteName = keyof typeof suites;

export type Chosen = { readonly suite: SuiteName; readonly run: Run };

const NAMES = Object.keys(suites) as readonly SuiteName[];

/** The runs of the named suites, or of all suites without names. Throws for an unknown name. */
export function choose(names: readonly string[]): readonly Chosen[] {
  const chosen = names.map((name) => oneOf('suite', name, NAMES));
  return NAMES.filter((name) => chosen.length === 0 || chosen.includes(name)).flatMap((suite) =>
    suites[suite].map((run) => ({ suite, run })),
  );
}
