import { errorText, firstLine } from './json/faults.ts';

/** The optional peers of the package: the title of each, and the tested version, which `package.json` names too. */
export const optionalPeers = {
  '@duckdb/node-api': { title: 'DuckDB', version: '1.5.5-r.5' },
  '@modelcontextprotocol/server': { title: 'the SDK of the Model Context Protocol', version: '2.4.0' },
} as const;

/** A peer cannot be loaded: it is not installed, or not for this machine. The message has the command that installs it. */
export class PeerMissingError extends Error {
  override readonly name = 'PeerMissingError';
}

/** Loads an optional peer. Throws `PeerMissingError`. */
export async function loadPeer<T>(peer: keyof typeof optionalPeers, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { title, version } = optionalPeers[peer];
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const why = firstLine(errorText(cause));
    const fault = isAbsent ? `${title} is not installed` : `${title} cannot be loaded (${why})`;
    throw new PeerMissingError(`${fault}: npm install ${peer}@${version}`, { cause });
  }
}
