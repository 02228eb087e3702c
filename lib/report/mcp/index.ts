/*
 * A Model Context Protocol server, with which assistants read the last snapshots. The protocol's SDK is
 * loaded when it starts.
 */

import { loadPeer } from '../../base/index.ts';

export type { McpContext, Submission } from './tool.ts';

/** Serves the tools until the client closes its end or `signal` is aborted. Throws `PeerMissingError`. */
export async function serve(...args: Parameters<typeof import('./serve.ts').serve>): Promise<void> {
  const server = await loadPeer('@modelcontextprotocol/server', () => import('./serve.ts'));
  await server.serve(...args);
}
