import { needPeers, type PeerName } from '../optional-peer.ts';
import type { AwsEnvironment } from './client-config.ts';

/**
 * The name of the SDK client that reads a token from this place. Only an ARN is read from Secrets Manager: a
 * secret's name looks like a parameter's.
 */
export const tokenClient = (place: string) =>
  /^arn:[^:]+:ssm:/.test(place) ? '@aws-sdk/client-ssm' : '@aws-sdk/client-secrets-manager';

/** The optional packages of AWS clients, by the setting that needs them. */
const CLIENTS = {
  PLATFORM_TOKEN_SECRET: tokenClient,
  SYNC_GLUE_DATABASE: (): PeerName => '@aws-sdk/client-glue',
  SYNC_SNAPSHOT_FUNCTION: (): PeerName => '@aws-sdk/client-lambda',
  SYNC_EVENT_BUS: (): PeerName => '@aws-sdk/client-eventbridge',
} as const;

/**
 * Throws `PeerMissingError` unless the clients that these settings need are installed; a setting without a
 * value needs none. Returns the names of the clients. Bundles do not call it: their clients are built in.
 */
export function needClients(
  environment: AwsEnvironment & Readonly<Record<string, string | undefined>>,
  settings = Object.keys(CLIENTS) as readonly (keyof typeof CLIENTS)[],
): readonly PeerName[] {
  const clients = settings.flatMap((name) => {
    const value = environment[name];
    return value ? [CLIENTS[name](value)] : [];
  });
  needPeers(clients);
  return clients;
}
