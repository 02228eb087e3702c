import { expect, test } from 'vitest';
import { full, least, resourcesOf, templateOf } from './instances.ts';

type Statement = {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
};

type Policy = {
  readonly Roles: readonly { readonly Ref: string }[];
  readonly PolicyDocument: { readonly Statement: readonly Statement[] };
};

/** Every statement of every role, each as one readable line. */
const linesOf = (template: ReturnType<typeof templateOf>): readonly string[] =>
  resourcesOf(template)
    .flatMap(([, { Type, Properties }]) =>
      Type === 'AWS::IAM::Policy' ? [Properties as unknown as Policy] : [],
    )
    .flatMap(({ Roles: [role], PolicyDocument: { Statement: statements } }) =>
      statements.flatMap(({ Effect, Action, Resource, Condition }) => {
        const only = Condition === undefined ? '' : ` if ${JSON.stringify(Condition)}`;
        const actions = [Action].flat().join(', ');
        return [Resource]
          .flat()
          .map((on) => `${nameOf(role?.Ref ?? '')}: ${Effect} ${actions} on ${placeOf(on)}${only}`);
      }),
    )
    .sort();

/** A logical id without its hash. */
const nameOf = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

/** A resource in short: the parts that it is joined from, with names for what the deployment fills in. */
function placeOf(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const [[kind, of] = ['', undefined]] = Object.entries(resource as object);
  if (kind === 'Fn::GetAtt') return nameOf((of as string[])[0] ?? '');
  if (kind === 'Fn::Join') return (of as [string, unknown[]])[1].map(placeOf).join('');
  return nameOf(String(of)).replace(/^AWS::/, '');
}

const plain = linesOf(
  templateOf({
    ...least,
    schedules: [{ source: 'calculations', cron: '0 2 * * ? *' }],
    eventRules: full.eventRules,
  }),
);

test('no role may do more than it uses', () => {
  expect(plain).toMatchInlineSnapshot(`
    [
      "ExpectedSnapshotsRole: Allow lambda:InvokeFunction on ExpectedSnapshotsWatchFunction",
      "ExpectedSnapshotsRole: Allow lambda:InvokeFunction on ExpectedSnapshotsWatchFunction:*",
      "ExpectedSnapshotsRole: Allow sqs:SendMessage on RareDeadLetters",
      "ExpectedSnapshotsWatchRole: Allow logs:CreateLogStream, logs:PutLogEvents on ExpectedSnapshotsWatchLog",
      "ExpectedSnapshotsWatchRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/expected-snapshots.json",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/calculations.*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/calculations/*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/cards.*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/cards/*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/data-files.*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/data-files/*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/files.*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/files/*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/work/expected-snapshots.json",
      "ExpectedSnapshotsWatchRole: Allow s3:ListBucket on StorageBucket",
      "JobsRunFunctionsRole: Allow dynamodb:DeleteItem, dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query, dynamodb:UpdateItem on StorageTable",
      "JobsRunFunctionsRole: Allow events:PutEvents on arn:Partition:events:Region:AccountId:event-bus/default if {"StringEquals":{"events:source":"platform-sync"}}",
      "JobsRunFunctionsRole: Allow logs:CreateLogStream, logs:PutLogEvents on JobsRunFunctionsLog",
      "JobsRunFunctionsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/refused/*",
      "JobsRunFunctionsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/results/*",
      "JobsRunFunctionsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/table.json",
      "JobsRunFunctionsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/*",
      "JobsRunFunctionsRole: Allow s3:GetObject on StorageBucket/results/*",
      "JobsRunFunctionsRole: Allow s3:GetObject on StorageBucket/table.json",
      "JobsRunFunctionsRole: Allow s3:GetObject on StorageBucket/work/*",
      "JobsRunFunctionsRole: Allow s3:ListBucket on StorageBucket",
      "JobsRunFunctionsRole: Allow secretsmanager:GetSecretValue on TokenSecretToken",
      "JobsRunFunctionsRole: Allow sqs:ChangeMessageVisibility, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:GetQueueUrl, sqs:ReceiveMessage, sqs:SendMessage on JobsFunctionsQueue",
      "JobsRunJobsRole: Allow dynamodb:DeleteItem, dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query, dynamodb:UpdateItem on StorageTable",
      "JobsRunJobsRole: Allow events:PutEvents on arn:Partition:events:Region:AccountId:event-bus/default if {"StringEquals":{"events:source":"platform-sync"}}",
      "JobsRunJobsRole: Allow lambda:InvokeFunction on SnapshotsLive",
      "JobsRunJobsRole: Allow logs:CreateLogStream, logs:PutLogEvents on JobsRunJobsLog",
      "JobsRunJobsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/refused/*",
      "JobsRunJobsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/results/*",
      "JobsRunJobsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/scores/*",
      "JobsRunJobsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/table.json",
      "JobsRunJobsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/*",
      "JobsRunJobsRole: Allow s3:DeleteObject on StorageBucket/scores/*",
      "JobsRunJobsRole: Allow s3:GetObject on StorageBucket/results/*",
      "JobsRunJobsRole: Allow s3:GetObject on StorageBucket/table.json",
      "JobsRunJobsRole: Allow s3:GetObject on StorageBucket/work/*",
      "JobsRunJobsRole: Allow s3:ListBucket on StorageBucket",
      "JobsRunJobsRole: Allow secretsmanager:GetSecretValue on TokenSecretToken",
      "JobsRunJobsRole: Allow sqs:ChangeMessageVisibility, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:GetQueueUrl, sqs:ReceiveMessage, sqs:SendMessage on JobsQueue",
      "ReportsRole: Allow lambda:InvokeFunction on ReportsWriteFunction",
      "ReportsRole: Allow lambda:InvokeFunction on ReportsWriteFunction:*",
      "ReportsRole: Allow sqs:SendMessage on RareDeadLetters",
      "ReportsWriteRole: Allow logs:CreateLogStream, logs:PutLogEvents on ReportsWriteLog",
      "ReportsWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/model/*",
      "ReportsWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/parquet/uses/*",
      "ReportsWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/report/*",
      "ReportsWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/report.json",
      "ReportsWriteRole: Allow s3:DeleteObject on StorageBucket/model/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/calculations.*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/calculations/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/cards.*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/cards/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/changes/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/data-files.*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/data-files/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/files.*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/files/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/formulas/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/model/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/parquet/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/report/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/results/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/scores/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/work/*",
      "ReportsWriteRole: Allow s3:ListBucket on StorageBucket",
      "SchedulesRole: Allow sqs:SendMessage on JobsQueue",
      "SchedulesRole: Allow sqs:SendMessage on RareDeadLetters",
      "SnapshotsSnapshotRole: Allow dynamodb:GetItem, dynamodb:UpdateItem on StorageTable",
      "SnapshotsSnapshotRole: Allow lambda:CheckpointDurableExecution, lambda:GetDurableExecutionState on SnapshotsSnapshotFunction:*",
      "SnapshotsSnapshotRole: Allow logs:CreateLogStream, logs:PutLogEvents on SnapshotsSnapshotLog",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/calculations*/*",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/cards*/*",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/changes/*",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/data-files*/*",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/files*/*",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/table.json",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/*",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/calculations*/_manifest*.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/calculations*/_tagged.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/calculations*/part-*",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/cards*/_manifest*.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/cards*/_tagged.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/cards*/part-*",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/changes/*",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/data-files*/_manifest*.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/data-files*/_tagged.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/data-files*/part-*",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/files*/_manifest*.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/files*/_tagged.json",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/files*/part-*",
      "SnapshotsSnapshotRole: Allow s3:GetObject on StorageBucket/*",
      "SnapshotsSnapshotRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/calculations*/dt=*",
      "SnapshotsSnapshotRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/cards*/dt=*",
      "SnapshotsSnapshotRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/changes/*",
      "SnapshotsSnapshotRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/data-files*/dt=*",
      "SnapshotsSnapshotRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/files*/dt=*",
      "SnapshotsSnapshotRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/parquet/*/dt=*",
      "SnapshotsSnapshotRole: Allow s3:ListBucket on StorageBucket",
      "SnapshotsSnapshotRole: Allow secretsmanager:GetSecretValue on TokenSecretToken",
      "SnapshotsSnapshotRole: Allow sqs:SendMessage on RareDeadLetters",
      "TablesRole: Allow lambda:InvokeFunction on TablesWriteFunction",
      "TablesRole: Allow lambda:InvokeFunction on TablesWriteFunction:*",
      "TablesRole: Allow sqs:SendMessage on RareDeadLetters",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:catalog",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:database/platformsyncleast_catalog_ba9d4e91",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_calculations",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_calculations_*",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_cards",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_cards_*",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_changes",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_data_files",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_data_files_*",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_files",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_files_*",
      "TablesWriteRole: Allow logs:CreateLogStream, logs:PutLogEvents on TablesWriteLog",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/calculations*/_tag*.json",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/cards*/_tag*.json",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/data-files*/_tag*.json",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/files*/_tag*.json",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/parquet/*",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/*",
      "TablesWriteRole: Allow s3:DeleteObject on StorageBucket/calculations*/_tag*.json",
      "TablesWriteRole: Allow s3:DeleteObject on StorageBucket/cards*/_tag*.json",
      "TablesWriteRole: Allow s3:DeleteObject on StorageBucket/data-files*/_tag*.json",
      "TablesWriteRole: Allow s3:DeleteObject on StorageBucket/files*/_tag*.json",
      "TablesWriteRole: Allow s3:DeleteObject on StorageBucket/parquet/*",
      "TablesWriteRole: Allow s3:DeleteObjectVersion, s3:GetObjectVersion on StorageBucket/parquet/scores/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/calculations.*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/calculations/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/cards.*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/cards/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/data-files.*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/data-files/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/files.*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/files/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/parquet/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/results/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/scores/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/work/*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/calculations.*/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/calculations/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/cards.*/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/cards/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/changes/*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/data-files.*/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/data-files/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/files.*/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/files/dt=*",
      "TablesWriteRole: Allow s3:GetObjectTagging, s3:PutObjectTagging on StorageBucket/parquet/*/dt=*",
      "TablesWriteRole: Allow s3:ListBucket on StorageBucket",
      "TablesWriteRole: Allow s3:ListBucketVersions on StorageBucket if {"StringLike":{"s3:prefix":["parquet/scores/*"]}}",
      "TextsSplitTextsRole: Allow dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query on StorageTable",
      "TextsSplitTextsRole: Allow logs:CreateLogStream, logs:PutLogEvents on TextsSplitTextsLog",
      "TextsSplitTextsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/refused/*",
      "TextsSplitTextsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/scores/*",
      "TextsSplitTextsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/table.json",
      "TextsSplitTextsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/*",
      "TextsSplitTextsRole: Allow s3:DeleteObject on StorageBucket/scores/*",
      "TextsSplitTextsRole: Allow s3:GetObject on StorageBucket/*",
      "TextsSplitTextsRole: Allow s3:ListBucket on StorageBucket",
      "TextsSplitTextsRole: Allow sqs:SendMessage on JobsQueue",
      "TextsSplitTextsRole: Allow sqs:SendMessage on RareDeadLetters",
    ]
  `);
});

const large = templateOf(full);

test('with a fixed address, functions may be connected to the network, and its traffic logged', () => {
  const added = linesOf(large).filter((line) => / (ec2:|logs:Desc)/.test(line));

  expect(added).toMatchInlineSnapshot(`
    [
      "ExpectedSnapshotsWatchRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "JobsRunFunctionsRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "JobsRunJobsRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "NetworkFlowLogsRole: Allow logs:CreateLogStream, logs:DescribeLogStreams, logs:PutLogEvents on NetworkFlowLogs",
      "ReportsWriteRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "SnapshotsSnapshotRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "TablesWriteRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "TextsSplitTextsRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
    ]
  `);
});

test('no role has an AWS managed policy', () => {
  for (const [, { Type, Properties }] of resourcesOf(large))
    if (Type === 'AWS::IAM::Role') expect(Properties).not.toHaveProperty('ManagedPolicyArns');
});
