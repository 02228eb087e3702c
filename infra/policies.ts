import { CfnOutput, Stack } from 'aws-cdk-lib';
import { Grant, ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { sources } from '../lib/contract.ts';
import type { Catalog } from './catalog.ts';
import { acknowledgeWildcard, arnText } from './nag.ts';
import type { Storage } from './storage.ts';

export type PoliciesProps = {
  readonly storage: Storage;
  readonly catalog: Catalog;
  readonly queues: Readonly<Record<'jobs' | 'deadLetters' | 'rareDeadLetters', IQueue>> & {
    readonly functions?: IQueue;
  };
};

/** Key patterns of published runs, also of narrowed places, of their changes, and of their Parquet. */
export const PUBLISHED = [
  ...sources.flatMap((source) => [`${source}/*`, `${source}.*`]),
  'changes/*',
  ...sources.map((source) => `parquet/${source}*`),
  'parquet/latest/*',
  'parquet/runs/*',
  'parquet/uses/*',
  'model/*',
];

/**
 * Managed policies to attach to people's roles; none of them may read the token. Readers need `reader`; people who start
 * work also `submitter`; people on call also `operator`.
 */
export class Policies extends Construct {
  /**
   * Allows `runs`, `diff`, `query`, `check`, `lineage`, `digest`, `where-used`, and reading results, scores,
   * the report, formulas and refusals, and queries with Athena.
   */
  readonly reader: ManagedPolicy;
  /**
   * Allows `submit`, and storing texts and requests in `inbox/`; together with `reader`, also `formula apply
   * --submit`.
   */
  readonly submitter: ManagedPolicy;
  /**
   * Allows `pace`, `jobs`, `redrive` and `forget`; together with `reader`, every command but `work`, if the
   * token may be read.
   */
  readonly operator: ManagedPolicy;

  constructor(scope: Construct, id: string, props: PoliciesProps) {
    super(scope, id);
    this.reader = this.policy('Reader', 'Reads runs, results and scores of platform-sync, and queries them');
    this.submitter = this.policy('Submitter', 'Puts jobs and texts to score into platform-sync');
    this.operator = this.policy('Operator', 'Looks after the jobs and the pace of platform-sync');
    grantReader(this.reader, props);
    grantSubmitter(this.submitter, props);
    grantOperator(this.operator, props);
    grantAlarms(this.operator);
    grantPublish(this.operator, props);
  }

  private policy(id: string, description: string): ManagedPolicy {
    const policy = new ManagedPolicy(this, id, { description });
    new CfnOutput(this, `${id}Arn`, { value: policy.managedPolicyArn, description });
    return policy;
  }
}

function grantReader(policy: ManagedPolicy, { storage, catalog }: PoliciesProps): void {
  storage.grantRead(policy, [
    ...PUBLISHED,
    'results/*',
    'scores/*',
    'formulas/*',
    'refused/*',
    // This is not for readers outside the account, since it contains jobs and scores.
    'report/*',
    'checks/*',
  ]);
  catalog.grantQuery(policy);
  // The workgroup stores the results of queries there.
  storage.grantRead(policy, ['athena-results/*']);
  // The outcome of a check is stored, so that the next one shows which violations are new.
  storage.grantWrite(policy, ['athena-results/*', 'checks/*']);
  Grant.addToPrincipal({
    grantee: policy,
    // Athena looks up the location of its results, and `doctor` the lifetimes.
    actions: ['s3:GetBucketLocation', 's3:GetBucketVersioning', 's3:GetLifecycleConfiguration'],
    resourceArns: [storage.bucket.bucketArn],
  });
  // This is for `env --stack`.
  const resourceName = `${Stack.of(policy).stackName}/*`;
  const stack = Stack.of(policy).formatArn({ service: 'cloudformation', resource: 'stack', resourceName });
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['cloudformation:DescribeStacks'],
    resourceArns: [stack],
  });
  acknowledgeWildcard(policy, arnText(policy, stack), 'The id of the stack, which is asked for by its name.');
}

function grantSubmitter(policy: ManagedPolicy, { storage, queues }: PoliciesProps): void {
  // `formula apply --submit` stores sets of formulas before they are sent.
  storage.grantWrite(policy, ['inbox/*', 'formulas/sets/*']);
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['sqs:SendMessage'],
    resourceArns: jobQueuesOf(queues),
  });
}

const jobQueuesOf = ({ jobs, functions }: PoliciesProps['queues']) =>
  [jobs, ...(functions === undefined ? [] : [functions])].map(({ queueArn }) => queueArn);

function grantOperator(policy: ManagedPolicy, { storage, queues }: PoliciesProps): void {
  storage.grantRows(
    policy,
    'dynamodb:GetItem',
    'dynamodb:BatchGetItem',
    'dynamodb:PutItem',
    'dynamodb:DeleteItem',
    'dynamodb:Query',
    'dynamodb:Scan',
  );
  // Erased content is an old version of its object, readable until it is erased too.
  storage.grantEverything(policy, ['scores/*', 'work/*']);
  storage.grantRead(policy, ['results/*', 'table.json']);
  storage.grantWrite(policy, ['results/*', 'formulas/*', 'table.json']);
  // Without this object, the report is written again.
  storage.grantDelete(policy, ['report/latest*']);
  Grant.addToPrincipal({
    grantee: policy,
    // `jobs` shows how many are queued.
    actions: ['sqs:SendMessage', 'sqs:GetQueueAttributes'],
    resourceArns: jobQueuesOf(queues),
  });
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['sqs:GetQueueAttributes'],
    resourceArns: [queues.deadLetters.queueArn],
  });
  Grant.addToPrincipal({
    grantee: policy,
    // A person looks at rare dead letters, and deletes them afterwards.
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage'],
    resourceArns: [queues.deadLetters.queueArn, queues.rareDeadLetters.queueArn],
  });
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['events:PutEvents'],
    resourceArns: [
      Stack.of(policy).formatArn({ service: 'events', resource: 'event-bus', resourceName: 'default' }),
    ],
    conditions: { StringEquals: { 'events:source': 'platform-sync' } },
  });
}

/** Grants the requests that the runbook makes about alarms. */
function grantAlarms(policy: ManagedPolicy): void {
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['cloudwatch:DescribeAlarmContributors', 'lambda:GetAccountSettings'],
    resourceArns: ['*'],
  });
  acknowledgeWildcard(
    policy,
    '*',
    'The settings of the account are no resource, and alarms have names of AWS.',
  );
}

/**
 * Grants publishing a refused run: the rights of the snapshot function, in fewer patterns, since a managed
 * policy has at most 6,144 characters.
 */
function grantPublish(policy: ManagedPolicy, { storage, catalog }: PoliciesProps): void {
  const places = sources.map((source) => `${source}*`);
  const ofRuns = ['changes/*', 'parquet/*/dt=*', ...places.map((place) => `${place}/dt=*`)];
  storage.grantWrite(policy, ['changes/*', 'parquet/*', ...places]);
  storage.grantDelete(policy, ofRuns);
  storage.grantTag(policy, ofRuns);
  const { databaseName } = catalog;
  const arnOf = (resource: string, resourceName?: string) =>
    Stack.of(policy).formatArn({ service: 'glue', resource, ...(resourceName && { resourceName }) });
  const tables = arnOf('table', `${databaseName}/*`);
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['glue:GetTable', 'glue:CreatePartition', 'glue:UpdatePartition', 'glue:DeletePartition'],
    resourceArns: [arnOf('catalog'), arnOf('database', databaseName), tables],
  });
  acknowledgeWildcard(policy, arnText(policy, tables), 'All tables of one database, each of a source.');
}
