import { expect, test } from 'vitest';
import { full, minimal, resourcesOf, templateOf } from './instances.ts';
import { lineOf, nameOf, type Statement } from './statement-lines.ts';

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
      statements.map((statement) => `${nameOf(role?.Ref ?? '')}: ${statement.Effect} ${lineOf(statement)}`),
    )
    .sort();

const plain = linesOf(
  templateOf({
    ...minimal,
    schedules: [{ source: 'calculations', cron: '0 2 * * ? *' }],
    eventRules: full.eventRules,
  }),
);

test('no role may do more than it uses', () => {
  expect(plain).toMatchInlineSnapshot(`
    [
      "ExpectedSnapshotsRole: Allow lambda:InvokeFunction on ExpectedSnapshotsWatchFunction, ExpectedSnapshotsWatchFunction:*",
      "ExpectedSnapshotsRole: Allow sqs:SendMessage on RareDeadLetters",
      "ExpectedSnapshotsWatchRole: Allow dynamodb:GetItem on StorageTable",
      "ExpectedSnapshotsWatchRole: Allow logs:CreateLogStream, logs:PutLogEvents on ExpectedSnapshotsWatchLog",
      "ExpectedSnapshotsWatchRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/work/expected-jobs/*, StorageBucket/work/expected-snapshots.json",
      "ExpectedSnapshotsWatchRole: Allow s3:DeleteObject on StorageBucket/work/expected-jobs/*",
      "ExpectedSnapshotsWatchRole: Allow s3:GetObject on StorageBucket/calculations.*, StorageBucket/calculations/*, StorageBucket/cards.*, StorageBucket/cards/*, StorageBucket/data-files.*, StorageBucket/data-files/*, StorageBucket/files.*, StorageBucket/files/*, StorageBucket/work/expected-snapshots.json",
      "ExpectedSnapshotsWatchRole: Allow s3:ListBucket on StorageBucket",
      "IdleQueuesMoveRole: Allow logs:CreateLogStream, logs:PutLogEvents on IdleQueuesMoveLog",
      "IdleQueuesMoveRole: Allow sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:ReceiveMessage on JobsTextsQueue",
      "IdleQueuesMoveRole: Allow sqs:SendMessage on JobsQueue",
      "IdleQueuesRole: Allow lambda:InvokeFunction on IdleQueuesMoveFunction, IdleQueuesMoveFunction:*",
      "IdleQueuesRole: Allow sqs:SendMessage on RareDeadLetters",
      "JobsRunFunctionsRole: Allow dynamodb:GetItem, dynamodb:PutItem on StorageTable",
      "JobsRunFunctionsRole: Allow events:PutEvents on arn:Partition:events:Region:AccountId:event-bus/default if {"StringEquals":{"events:source":"platform-sync"}}",
      "JobsRunFunctionsRole: Allow logs:CreateLogStream, logs:PutLogEvents on JobsRunFunctionsLog",
      "JobsRunFunctionsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/formulas/imported/*, StorageBucket/refused/*, StorageBucket/results/*, StorageBucket/table.json, StorageBucket/work/*",
      "JobsRunFunctionsRole: Allow s3:GetObject on StorageBucket/formulas/imported/*, StorageBucket/results/*, StorageBucket/table.json, StorageBucket/work/*",
      "JobsRunFunctionsRole: Allow s3:ListBucket on StorageBucket",
      "JobsRunFunctionsRole: Allow secretsmanager:GetSecretValue on TokenSecretToken",
      "JobsRunFunctionsRole: Allow sqs:ChangeMessageVisibility, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:GetQueueUrl, sqs:ReceiveMessage, sqs:SendMessage on JobsFunctionsQueue",
      "JobsRunJobsRole: Allow dynamodb:BatchGetItem, dynamodb:DeleteItem, dynamodb:Query on StorageTable",
      "JobsRunJobsRole: Allow dynamodb:GetItem, dynamodb:PutItem on StorageTable",
      "JobsRunJobsRole: Allow events:PutEvents on arn:Partition:events:Region:AccountId:event-bus/default if {"StringEquals":{"events:source":"platform-sync"}}",
      "JobsRunJobsRole: Allow lambda:InvokeFunction on SnapshotsLive",
      "JobsRunJobsRole: Allow logs:CreateLogStream, logs:PutLogEvents on JobsRunJobsLog",
      "JobsRunJobsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/formulas/imported/*, StorageBucket/refused/*, StorageBucket/results/*, StorageBucket/scores/*, StorageBucket/table.json, StorageBucket/work/*",
      "JobsRunJobsRole: Allow s3:DeleteObject on StorageBucket/scores/*",
      "JobsRunJobsRole: Allow s3:GetObject on StorageBucket/formulas/imported/*, StorageBucket/results/*, StorageBucket/scores/*, StorageBucket/table.json, StorageBucket/work/*",
      "JobsRunJobsRole: Allow s3:ListBucket on StorageBucket",
      "JobsRunJobsRole: Allow secretsmanager:GetSecretValue on TokenSecretToken",
      "JobsRunJobsRole: Allow sqs:ChangeMessageVisibility, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:GetQueueUrl, sqs:ReceiveMessage, sqs:SendMessage on JobsQueue",
      "ReportsRole: Allow lambda:InvokeFunction on ReportsWriteFunction, ReportsWriteFunction:*",
      "ReportsRole: Allow sqs:SendMessage on RareDeadLetters",
      "ReportsWriteRole: Allow logs:CreateLogStream, logs:PutLogEvents on ReportsWriteLog",
      "ReportsWriteRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/model/*, StorageBucket/parquet/uses/*, StorageBucket/report/*, StorageBucket/work/report-failures.json",
      "ReportsWriteRole: Allow s3:DeleteObject on StorageBucket/model/*",
      "ReportsWriteRole: Allow s3:GetObject on StorageBucket/calculations.*, StorageBucket/calculations/*, StorageBucket/cards.*, StorageBucket/cards/*, StorageBucket/changes/*, StorageBucket/data-files.*, StorageBucket/data-files/*, StorageBucket/files.*, StorageBucket/files/*, StorageBucket/formulas/*, StorageBucket/model/*, StorageBucket/parquet/*, StorageBucket/report/*, StorageBucket/results/*, StorageBucket/scores/*, StorageBucket/work/*",
      "ReportsWriteRole: Allow s3:ListBucket on StorageBucket",
      "SchedulesRole: Allow sqs:SendMessage on JobsQueue, RareDeadLetters",
      "SnapshotsSnapshotRole: Allow dynamodb:GetItem, dynamodb:PutItem on StorageTable",
      "SnapshotsSnapshotRole: Allow lambda:CheckpointDurableExecution, lambda:GetDurableExecutionState on SnapshotsSnapshotFunction:*",
      "SnapshotsSnapshotRole: Allow logs:CreateLogStream, logs:PutLogEvents on SnapshotsSnapshotLog",
      "SnapshotsSnapshotRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/calculations*/*, StorageBucket/cards*/*, StorageBucket/changes/*, StorageBucket/data-files*/*, StorageBucket/files*/*, StorageBucket/table.json, StorageBucket/work/*",
      "SnapshotsSnapshotRole: Allow s3:DeleteObject on StorageBucket/calculations*/_tagged.json, StorageBucket/cards*/_tagged.json, StorageBucket/changes/*, StorageBucket/data-files*/_tagged.json, StorageBucket/files*/_tagged.json, StorageBucket/work/*/open-*",
      "SnapshotsSnapshotRole: Allow s3:GetObject on StorageBucket/*",
      "SnapshotsSnapshotRole: Allow s3:ListBucket on StorageBucket",
      "SnapshotsSnapshotRole: Allow s3:PutObjectTagging on StorageBucket/calculations*/dt=*, StorageBucket/cards*/dt=*, StorageBucket/changes/*, StorageBucket/data-files*/dt=*, StorageBucket/files*/dt=*, StorageBucket/parquet/*/dt=*",
      "SnapshotsSnapshotRole: Allow secretsmanager:GetSecretValue on TokenSecretToken",
      "SnapshotsSnapshotRole: Allow sqs:SendMessage on RareDeadLetters",
      "TablesRole: Allow lambda:InvokeFunction on TablesWriteFunction, TablesWriteFunction:*",
      "TablesRole: Allow sqs:SendMessage on RareDeadLetters",
      "TablesWriteRole: Allow glue:CreatePartition, glue:DeletePartition, glue:GetTable, glue:UpdatePartition on arn:Partition:glue:Region:AccountId:catalog, arn:Partition:glue:Region:AccountId:database/platformsyncleast_catalog_ba9d4e91, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_calculations, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_calculations_*, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_cards, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_cards_*, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_changes, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_data_files, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_data_files_*, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_files, arn:Partition:glue:Region:AccountId:table/platformsyncleast_catalog_ba9d4e91/stored_files_*",
      "TablesWriteRole: Allow logs:CreateLogStream, logs:PutLogEvents on TablesWriteLog",
      "TablesWriteRole: Allow s3:AbortMultipartUpload, s3:DeleteObject, s3:PutObject on StorageBucket/calculations*/_tag*.json, StorageBucket/cards*/_tag*.json, StorageBucket/data-files*/_tag*.json, StorageBucket/files*/_tag*.json, StorageBucket/parquet/*",
      "TablesWriteRole: Allow s3:GetObject on StorageBucket/calculations.*, StorageBucket/calculations/*, StorageBucket/cards.*, StorageBucket/cards/*, StorageBucket/data-files.*, StorageBucket/data-files/*, StorageBucket/files.*, StorageBucket/files/*, StorageBucket/parquet/*",
      "TablesWriteRole: Allow s3:ListBucket on StorageBucket",
      "TablesWriteRole: Allow s3:PutObjectTagging on StorageBucket/calculations.*/dt=*, StorageBucket/calculations/dt=*, StorageBucket/cards.*/dt=*, StorageBucket/cards/dt=*, StorageBucket/changes/*, StorageBucket/data-files.*/dt=*, StorageBucket/data-files/dt=*, StorageBucket/files.*/dt=*, StorageBucket/files/dt=*, StorageBucket/parquet/*/dt=*",
      "TextsSplitTextsRole: Allow dynamodb:BatchGetItem, dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query on StorageTable",
      "TextsSplitTextsRole: Allow logs:CreateLogStream, logs:PutLogEvents on TextsSplitTextsLog",
      "TextsSplitTextsRole: Allow s3:AbortMultipartUpload, s3:PutObject on StorageBucket/refused/*, StorageBucket/scores/*, StorageBucket/table.json, StorageBucket/work/*",
      "TextsSplitTextsRole: Allow s3:DeleteObject on StorageBucket/scores/*",
      "TextsSplitTextsRole: Allow s3:GetObject on StorageBucket/*",
      "TextsSplitTextsRole: Allow s3:ListBucket on StorageBucket",
      "TextsSplitTextsRole: Allow sqs:SendMessage on JobsQueue, RareDeadLetters",
    ]
  `);
});

const large = templateOf(full);

test('with a fixed address, functions may join the network, and its traffic is logged', () => {
  const added = linesOf(large).filter((line) => / (ec2:|logs:Desc)/.test(line));

  expect(added).toMatchInlineSnapshot(`
    [
      "ExpectedSnapshotsWatchRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
      "IdleQueuesMoveRole: Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *",
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
