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

/** Key patterns of published runs (narrowed ones included), their changes and their Parquet. */
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
 * Managed policies to attach to people's roles. Readers need `reader`; people who start work also need `submitter`;
 * people on call also need `operator`. None of them allows reading the token.
 */
export class Policies extends Construct {
  /**
   * Allows `runs`, `diff`, `query`, `check`, `lineage`, `digest` and `where-used`, queries in Athena, and reading
   * results, scores, the report, formulas and refused messages.
   */
  readonly reader: ManagedPolicy;
  /**
   * Allows `submit`, and storing texts and requests in `inbox/`; together with `reader`, also `formula apply
   * --submit`.
   */
  readonly submitter: ManagedPolicy;
  /**
   * Allows `pace`, `jobs`, `redrive` and `forget`. Together with `reader` and the permission to read the token, it
   * allows every command except `work`.
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
    // The report is not in `PUBLISHED`, which is for readers outside the account, because it shows jobs and scores.
    'report/*',
    'checks/*',
  ]);
  catalog.grantQuery(policy);
  // The workgroup stores the results of queries there.
  storage.grantRead(policy, ['athena-results/*']);
  // The outcome of a check is stored, so that the next check shows which violations are new.
  storage.grantWrite(policy, ['athena-results/*', 'checks/*']);
  Grant.addToPrincipal({
    grantee: policy,
    // Athena looks up the location of its results, and `doctor` the lifetimes.
    actions: ['s3:GetBucketLocation', 's3:GetBucketVersioning', 's3:GetLifecycleConfiguration'],
    resourceArns: [storage.bucket.bucketArn],
  });
  // `env --stack` reads the stack's outputs.
  const resourceName = `${Stack.of(policy).stackName}/*`;
  const stack = Stack.of(policy).formatArn({ service: 'cloudformation', resource: 'stack', resourceName });
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['cloudformation:DescribeStacks'],
    resourceArns: [stack],
  });
  acknowledgeWildcard(
    policy,
    arnText(policy, stack),
    'The stack is looked up by its name; its ARN also has an id.',
  );
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
  // `forget` must also erase the old versions of objects, which stay readable otherwise.
  storage.grantEverything(policy, ['scores/*', 'work/*']);
  storage.grantRead(policy, ['results/*', 'table.json']);
  storage.grantWrite(policy, ['results/*', 'formulas/*', 'table.json']);
  // `forget` deletes the report, so that it is written again.
  storage.grantDelete(policy, ['report/latest*']);
  Grant.addToPrincipal({
    grantee: policy,
    // `jobs` shows how many messages are queued.
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
    // `redrive` moves dead letters. An operator checks rare dead letters, and then deletes them.
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

/** Grants the requests about alarms in the runbook. */
function grantAlarms(policy: ManagedPolicy): void {
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['cloudwatch:DescribeAlarmContributors', 'lambda:GetAccountSettings'],
    resourceArns: ['*'],
  });
  acknowledgeWildcard(
    policy,
    '*',
    'Account settings are not a resource, and CloudFormation generates the names of alarms.',
  );
}

/**
 * Grants publishing a refused run. These are the permissions of the snapshot function, but with fewer patterns, since a
 * managed policy has at most 6,144 characters.
 */
function grantPublish(policy: ManagedPolicy, { storage, catalog }: PoliciesProps): void {
  const places = sources.map((source) => `${source}*`);
  const runPatterns = ['changes/*', 'parquet/*/dt=*', ...places.map((place) => `${place}/dt=*`)];
  storage.grantWrite(policy, ['changes/*', 'parquet/*', ...places]);
  storage.grantDelete(policy, runPatterns);
  storage.grantTag(policy, runPatterns);
  const { databaseName } = catalog;
  const arnOf = (resource: string, resourceName?: string) =>
    Stack.of(policy).formatArn({ service: 'glue', resource, ...(resourceName && { resourceName }) });
  const tables = arnOf('table', `${databaseName}/*`);
  Grant.addToPrincipal({
    grantee: policy,
    actions: ['glue:GetTable', 'glue:CreatePartition', 'glue:UpdatePartition', 'glue:DeletePartition'],
    resourceArns: [arnOf('catalog'), arnOf('database', databaseName), tables],
  });
  acknowledgeWildcard(policy, arnText(policy, tables), 'All tables of the database of this stack.');
}
