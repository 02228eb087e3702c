import { Stack, Token } from 'aws-cdk-lib';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { partitionOf } from './config-arns.ts';

/** The domains of the AWS console in the partitions whose domain differs. */
const DOMAINS: Readonly<Record<string, string>> = {
  'aws-cn': 'amazonaws.cn',
  'aws-us-gov': 'amazonaws-us-gov.com',
};

export type LinksProps = {
  /** The dead-letter queues, by the labels of their links. */
  readonly deadLetters: Readonly<Record<string, IQueue>>;
  /** The workgroup of Athena that has the saved queries. */
  readonly workGroupName: string;
  /** A URL or a path. */
  readonly runbook: string;
};

/** The links of the dashboard, in the Markdown of its text widgets. */
export function linksOf(scope: Construct, { deadLetters, workGroupName, runbook }: LinksProps): string {
  const { region, account, urlSuffix } = Stack.of(scope);
  const domain = Token.isUnresolved(region) ? undefined : DOMAINS[partitionOf(region)];
  const console = `https://${region}.console.${domain ?? 'aws.amazon.com'}`;
  // The console expects a queue's URL as one encoded segment.
  const queueAt = ({ queueName }: IQueue) =>
    `${console}/sqs/v3/home?region=${region}#/queues/https%3A%2F%2Fsqs.${region}.${urlSuffix}%2F${account}%2F${queueName}`;
  const links = {
    ...Object.fromEntries(Object.entries(deadLetters).map(([name, queue]) => [name, queueAt(queue)])),
    [`Saved queries (workgroup ${workGroupName})`]: `${console}/athena/home?region=${region}#/query-editor/saved-queries`,
    'Saved queries of the logs': `${console}/cloudwatch/home?region=${region}#logsV2:logs-insights`,
  };
  const book = URL.canParse(runbook) ? `[Runbook](${runbook})` : `Runbook: \`${runbook}\``;
  return [...Object.entries(links).map(([name, url]) => `[${name}](${url})`), book].join(' | ');
}
