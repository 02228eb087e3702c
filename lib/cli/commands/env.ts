import { CloudFormationClient, DescribeStacksCommand, type Output } from '@aws-sdk/client-cloudformation';
import { asAwsError, awsClientConfig } from '../../base/aws/index.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';

/** Reads only the stack's outputs. */
export default (async (_, { stack, construct = '' }, { environment, signal }) => {
  if (!stack) throw new UsageError('--stack: expected the name of a stack, got nothing');
  const times = { connectionTimeoutMs: 2_000, requestTimeoutMs: 10_000 };
  const client = new CloudFormationClient(
    awsClientConfig(environment, { service: 'CLOUDFORMATION', ...times }),
  );
  const { Stacks = [] } = await asAwsError({ part: 'stack', tried: `describe the stack ${stack}` }, () =>
    client.send(new DescribeStacksCommand({ StackName: stack }), { abortSignal: signal }),
  );
  const settings = settingsOf(Stacks[0]?.Outputs ?? [], construct, stack);
  return { json: settings, words: Object.entries(settings).map(([name, value]) => `${name}=${value}`) };
}) satisfies Run<'env'>;

/** The settings among the outputs of one instance. Throws `UsageError` if there are none, or several. */
function settingsOf(
  outputs: readonly Output[],
  construct: string,
  stack: string,
): Readonly<Record<string, string>> {
  const found = outputs.filter(
    ({ OutputKey = '', Description = '' }) => OutputKey.startsWith(construct) && SETTING.test(Description),
  );
  const stores = found.filter(({ Description }) => Description === 'SYNC_STORE');
  if (stores.length === 1)
    return Object.fromEntries(
      found.map(({ Description = '', OutputValue = '' }) => [Description, OutputValue]),
    );
  const named = construct === '' ? '' : ` whose outputs begin with ${construct}`;
  const got =
    stores.length === 0
      ? 'none'
      : `${stores.length}, which --construct tells apart: ${stores.map(({ OutputKey }) => OutputKey).join(', ')}`;
  throw new UsageError(`--stack ${stack}: expected one instance${named}, got ${got}`);
}

const SETTING = /^(?:PLATFORM|SYNC)_[A-Z_]+$/;
