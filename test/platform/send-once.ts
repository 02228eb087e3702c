import { type NetworkEnvironment, proxyOf } from '../../lib/base/aws/network.ts';
import { wasSent } from '../../lib/platform/failure.ts';
import { createBodyBudget } from '../../lib/platform/http/body.ts';
import { createExchange } from '../../lib/platform/http/exchange.ts';
import { createTransport, readAsJson, type Send } from '../../lib/platform/http/transport.ts';

type PlatformRequest = Parameters<Send>[0];

type TransportOptions = Parameters<typeof createTransport>[0];

export type SendOptions = Partial<PlatformRequest> & {
  readonly token?: string;
  readonly signal?: AbortSignal;
  readonly proxyEnv?: NetworkEnvironment;
} & Partial<Pick<TransportOptions, 'maxResponseBytes' | 'bodies' | 'now'>>;

/** Makes one attempt over the real transport. Returns its outcome, and whether the request may have been executed. */
export async function sendOnce(baseUrl: string, options: SendOptions = {}) {
  const {
    token = 'abc',
    signal,
    proxyEnv,
    maxResponseBytes = 1_000_000,
    bodies = createBodyBudget(),
    now = () => 0,
    ...request
  } = options;
  const send = createTransport({
    baseUrl: new URL(baseUrl),
    tokenHeader: 'X-SERVICE-Developer-Token',
    maxResponseBytes,
    bodies,
    exchange: createExchange(proxyEnv),
    proxy: proxyOf(new URL(baseUrl), proxyEnv ?? {}),
    now,
  });
  const result = await send(
    {
      method: 'GET',
      target: '/api/x?y=1',
      timeoutMs: 5_000,
      mayRepeat: false,
      isPrivate: false,
      read: readAsJson,
      ...request,
    },
    token,
    signal,
  );
  return { ...result, sent: result.kind === 'failure' ? wasSent(result.failure) : true };
}
