import { once } from 'node:events';
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { createPlatformApp, type PlatformApp } from './create-platform-app.ts';
import { checkOptions, type PlatformOptions } from './options.ts';
import { createPlatformState } from './state.ts';

/** A running reference platform. */
export type Sandbox = Omit<PlatformApp, 'fetch' | 'close'> & {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Throws a `TypeError` that names every wrong option, and whatever `listen` throws (`EADDRINUSE`). */
export async function startPlatform(options: PlatformOptions = {}): Promise<Sandbox> {
  const resolved = checkOptions(options);
  const state = createPlatformState(options);
  const { fetch, close: closeApp, ...app } = createPlatformApp(state, options);
  const server = createAdaptorServer({
    fetch: (request, bindings) => fetch(request, bindings as HttpBindings),
    overrideGlobalObjects: false,
  });
  if (!(server instanceof Server)) throw new TypeError('expected an HTTP/1 server');
  server.keepAliveTimeout = 60_000;
  server.listen(resolved.port, '127.0.0.1');
  await once(server, 'listening');
  const stopChurn = startChurn(resolved.churn, app.churn);
  const close = async () => {
    stopChurn();
    closeApp();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const { port } = server.address() as AddressInfo;
  return { ...app, url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}

/** Milliseconds between two rounds of churn: short enough for churn to happen between the pages of one scan. */
const CHURN_EVERY_MS = 20;

/** Takes the steps that are due for the time that has passed, so that a busy process does not churn less. */
function startChurn(perSecond: number, churn: (steps: number) => unknown): () => void {
  if (perSecond === 0) return () => undefined;
  const startedAt = performance.now();
  let taken = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond) - taken;
    taken += due;
    churn(due);
  }, CHURN_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
