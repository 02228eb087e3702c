import type { Server } from 'node:http';

/**
 * Keeps dynalite alive when a client disappears in the middle of its request, for example because its process was
 * killed. By itself, dynalite throws the connection's error, which ends the whole process.
 * test/local-aws/services/aborted-requests.test.ts fails once dynalite does this itself.
 */
export function tolerateAbortedRequests(server: Server): void {
  // Called after dynalite's own listener, which has just added the one that throws.
  server.on('request', (request) => {
    request.removeAllListeners('error');
    request.on('error', () => undefined);
  });
}
