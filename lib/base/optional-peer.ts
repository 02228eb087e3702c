import { errorText, firstLine } from './faults.ts';

/** An AWS client of the SDK: any version 3 that is not older than the tested one. */
const clientOf = (service: string) => ({ title: `the AWS client of ${service}`, version: '3' });

/** The optional peers of the package: the title of each, and the version to install, which `package.json` allows. */
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

export type PeerName = keyof typeof optionalPeers;

/**
 * Thrown if a peer cannot be loaded: it is not installed, or does not run on this machine. The message has
 * the command that installs it.
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
export function needPeers(peers: readonly PeerName[]): void {
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
