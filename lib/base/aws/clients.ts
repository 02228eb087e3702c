import { needPeers, type PeerName } from '../optional-peer.ts';
import type { AwsEnvironment } from './client-config.ts';

/**
 * The client of the SDK that reads the token at a place. Names of secrets look like names of parameters: only an ARN says
 * which one it is.
 */
export const tokenClient = (place: string) =>
  /^arn:[^:]+:ssm:/.test(place) ? '@aws-sdk/client-ssm' : '@aws-sdk/client-secrets-manager';

/** The clients that settings need, of those that are not installed with the package. */
const CLIENTS = {
  PLATFORM_TOKEN_SECRET: tokenClient,
  SYNC_GLUE_DATABASE: (): PeerName => '@aws-sdk/client-glue',
  SYNC_SNAPSHOT_FUNCTION: (): PeerName => '@aws-sdk/client-lambda',
  SYNC_EVENT_BUS: (): PeerName => '@aws-sdk/client-eventbridge',
} as const;

/**
 * Throws `PeerMissingError` unless the clients that these settings need are installed; a setting without a value needs none.
 * Returns their names. Not for a bundle, which has its clients in it.
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
