import { startJsonServer, unknownOperation } from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** An event as the client sent it. */
export type PutEvent = {
  readonly EventBusName?: string;
  readonly Source: string;
  readonly DetailType: string;
  /** JSON. */
  readonly Detail: string;
};

/** Starts a stand-in for EventBridge, which accepts events without delivering them. */
export async function startEvents(): Promise<LoopbackServer & { readonly taken: readonly PutEvent[] }> {
  const taken: PutEvent[] = [];
  const server = await startJsonServer((request) => {
    if (request.operation !== 'PutEvents') return unknownOperation(request);
    const entries = request.body['Entries'] as readonly PutEvent[];
    taken.push(...entries);
    return {
      status: 200,
      body: { FailedEntryCount: 0, Entries: entries.map((_, index) => ({ EventId: String(index) })) },
    };
  });
  return { ...server, taken };
}
