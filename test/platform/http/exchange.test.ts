import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createExchange } from '../../../lib/platform/http/exchange.ts';
import { json, reset, startServer } from '../scripted-server.ts';

const requestTo = (url: string) => ({
  url: new URL('/api/x', url),
  method: 'GET' as const,
  headers: {},
  body: undefined,
  timeoutMs: 5_000,
  fresh: true,
});

test.each([
  ['that got a response', json({ a: 1 })],
  ['that failed', reset],
])('a call %s leaves no listener on its signal', async (_, script) => {
  await using server = await startServer(script);
  const { signal } = new AbortController();

  const response = await createExchange()(requestTo(server.url), signal, () => undefined).catch(
    () => undefined,
  );
  for await (const _chunk of response?.body ?? []);

  // Node removes its own listener when the connection is closed.
  await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
});
