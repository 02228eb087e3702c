/* A Model Context Protocol server, through which an assistant reads the last snapshots. The protocol's SDK is optional, and is loaded when the server starts. */

import { loadPeer } from '../../base/index.ts';

export type { McpContext, Submission } from './tool.ts';

/** Serves the tools until the client closes its end or `signal` is aborted. Throws `PeerMissingError`. */
export async function serve(...given: Parameters<typeof import('./serve.ts').serve>): Promise<void> {
  const server = await loadPeer('@modelcontextprotocol/server', () => import('./serve.ts'));
  await server.serve(...given);
}
