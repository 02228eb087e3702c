import { startLoopbackServer } from '../local-aws/services/loopback-server.ts';
import type { PaceScenario } from './pace-scenarios.ts';

/** A request, in milliseconds after the start. */
export type Arrival = { readonly atMs: number; readonly refused: boolean };

/** A platform that only records when requests arrive, and has one empty page for each. */
export async function startStandIn(refuses: PaceScenario['refuses']) {
  const arrivals: Arrival[] = [];
  let startAtMs = Number.POSITIVE_INFINITY;
  const server = await startLoopbackServer((request, response) => {
    const atMs = Date.now() - startAtMs;
    const refused = refuses !== undefined && atMs >= refuses.fromMs && atMs < refuses.untilMs;
    arrivals.push({ atMs, refused });
    request.resume();
    if (refused) response.setHeader('retry-after', String(refuses.retryAfterSeconds));
    response.writeHead(refused ? 429 : 200, { 'content-type': 'application/json' });
    response.end(refused ? '{"message":"Too many requests"}' : '{"results":[]}');
  });
  return {
    url: server.endpoint,
    startAt(atMs: number) {
      startAtMs = atMs;
    },
    arrivals: (): readonly Arrival[] => arrivals,
    [Symbol.asyncDispose]: server.close,
  };
}
