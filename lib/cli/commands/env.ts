import type { Output } from '@aws-sdk/client-cloudformation';
import { asAwsError, awsClientConfig, needClients } from '../../base/aws/index.ts';
import { loadPeer, PeerMissingError } from '../../base/index.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';

/** Prints the settings of a deployed instance, from its stack's outputs, and which packages the settings need. */
export default (async (_, { stack, construct = '' }, { environment, signal, err }) => {
  if (!stack) throw new UsageError('--stack: expected the name of a stack, got nothing');
  const times = { connectionTimeoutMs: 2_000, requestTimeoutMs: 10_000 };
  const { CloudFormationClient, DescribeStacksCommand } = await loadPeer(
    '@aws-sdk/client-cloudformation',
    () => import('@aws-sdk/client-cloudformation'),
  );
  const client = new CloudFormationClient(
    awsClientConfig(environment, { service: 'CLOUDFORMATION', ...times }),
  );
  const { Stacks = [] } = await asAwsError({ resource: 'stack', tried: `describe the stack ${stack}` }, () =>
    client.send(new DescribeStacksCommand({ StackName: stack }), { abortSignal: signal }),
  );
  const settings = settingsOf(Stacks[0]?.Outputs ?? [], construct, stack);
  try {
    needClients(settings);
  } catch (error) {
    if (!(error instanceof PeerMissingError)) throw error;
    err(`to use these settings: ${error.message}`);
  }
  return { json: settings, words: Object.entries(settings).map(([name, value]) => `${name}=${value}`) };
}) satisfies Run<'env'>;

/** The settings among the outputs of one instance. Throws `UsageError` unless exactly one instance matches. */
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
  throw new UsageError(
    stores.length === 0
      ? `--stack ${stack}: the stack has no instance${named}`
      : `--stack ${stack}: the stack has ${stores.length} instances${named}; choose one with --construct: ${stores.map(({ OutputKey }) => OutputKey).join(', ')}`,
  );
}

const SETTING = /^(?:PLATFORM|SYNC)_[A-Z_]+$/;
