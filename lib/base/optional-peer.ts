import type { AwsEnvironment } from './aws/client-config.ts';
import { errorText, firstLine } from './faults.ts';

/** An AWS client of the SDK, in any version 3; `package.json` sets the minimum. */
const clientOf = (service: string) => ({ title: `the AWS client of ${service}`, version: '3' });

/** The optional peer dependencies: the title of each, and the version to install, which `package.json` allows. */
export const optionalPeers = {
  '@duckdb/node-api': { title: 'DuckDB', version: '1.5.5-r.5' },
  '@modelcontextprotocol/server': { title: 'the SDK of the Model Context Protocol', version: '2.4.0' },
  '@aws-sdk/client-cloudformation': clientOf('CloudFormation'),
  '@aws-sdk/client-eventbridge': clientOf('EventBridge'),
  '@aws-sdk/client-glue': clientOf('Glue'),
  '@aws-sdk/client-lambda': clientOf('Lambda'),
  '@aws-sdk/client-secrets-manager': clientOf('Secrets Manager'),
  '@aws-sdk/client-ssm': clientOf('Parameter Store'),
} as const;

type PeerName = keyof typeof optionalPeers;

/**
 * Thrown if an optional peer dependency cannot be loaded: it is not installed, or does not run on this machine. The
 * message has the command that installs it.
 */
export class PeerMissingError extends Error {
  override readonly name = 'PeerMissingError';
}

const installing = (peers: readonly PeerName[]) =>
  `npm install ${peers.map((peer) => `${peer}@${optionalPeers[peer].version}`).join(' ')}`;

const absent = (peers: readonly PeerName[]) =>
  `${peers.map((peer) => optionalPeers[peer].title).join(' and ')} ${peers.length === 1 ? 'is' : 'are'} not installed`;

/** Loads an optional peer. Throws `PeerMissingError`. */
export async function loadPeer<T>(peer: PeerName, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const why = firstLine(errorText(cause));
    const fault = isAbsent ? absent([peer]) : `${optionalPeers[peer].title} cannot be loaded (${why})`;
    throw new PeerMissingError(`${fault}: ${installing([peer])}`, { cause });
  }
}

/** Throws one `PeerMissingError` for all of these peers that are not installed. Loads none of them. */
function needPeers(peers: readonly PeerName[]): void {
  const missing = peers.filter((peer) => !isInstalled(peer));
  if (missing.length > 0) throw new PeerMissingError(`${absent(missing)}: ${installing(missing)}`);
}

function isInstalled(peer: PeerName): boolean {
  try {
    import.meta.resolve(peer);
    return true;
  } catch {
    return false;
  }
}

/**
 * The name of the SDK client that reads a token from this location. Only an ARN is read from Secrets Manager: a
 * secret's name looks like a parameter's.
 */
export const tokenClient = (location: string) =>
  /^arn:[^:]+:ssm:/.test(location) ? '@aws-sdk/client-ssm' : '@aws-sdk/client-secrets-manager';

/** The optional packages of AWS clients, by the setting that needs them. */
const CLIENTS = {
  PLATFORM_TOKEN_SECRET: tokenClient,
  SYNC_GLUE_DATABASE: (): PeerName => '@aws-sdk/client-glue',
  SYNC_SNAPSHOT_FUNCTION: (): PeerName => '@aws-sdk/client-lambda',
  SYNC_EVENT_BUS: (): PeerName => '@aws-sdk/client-eventbridge',
} as const;

/**
 * Throws `PeerMissingError` unless the clients that these settings need are installed. A setting without a value
 * needs no client. Returns the names of the clients. Bundles do not call this, since their clients are built in.
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
