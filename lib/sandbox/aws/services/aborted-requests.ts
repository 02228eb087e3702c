import type { Server } from 'node:http';

/**
 * Keeps dynalite alive when a client is gone in the middle of its request, as a killed process is. By itself it
 * throws what happened to the connection, which ends the whole process.
 * test/sandbox/aws/services/aborted-requests.test.ts tells when dynalite does this itself.
 */
export const tolerateAbortedRequests = (server: Server): void => {
  // Called after dynalite's own listener, which has just added the one that throws.
  server.on('request', (request) => {
    request.removeAllListeners('error');
    request.on('error', () => undefined);
  });
};
