import { errorText, sleep } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import { createExchange, parseRetryAfter } from '../../platform/http/index.ts';
import { decideRetry, defaultRetryLimits, type PlatformFailure } from '../../platform/index.ts';
import { digestSince, type WebhookService, webhookBody } from '../../report/index.ts';
import { readSyncSettings } from '../../settings.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';

const DAY_MS = 86_400_000;

/** Reports what has changed, broken and failed: in the terminal, or to a webhook. Needs only the store. */
export default (async (_, { since, to }, terminal) => {
  const url = to === undefined ? undefined : webhookUrl(terminal);
  const { environment, signal, err } = terminal;
  const { PLATFORM_LINKS: links, PLATFORM_PRICES: prices } = readSyncSettings(environment);
  const faults: string[] = [];
  const digest = await digestSince({
    store: await openStoreOf(terminal),
    sinceMs: since ?? Date.now() - DAY_MS,
    links,
    prices,
    addFault: (fault) => faults.push(fault),
    signal,
  });
  for (const fault of faults) err(shown(fault));
  if (to !== undefined && url !== undefined) await post(to, url, digest, terminal);
  return {
    json: digest,
    words: `${digest.subject}${digest.text === '' ? '' : `\n\n${digest.text}`}`,
    ended: faults.length > 0 ? 'incomplete' : 'done',
  };
}) satisfies Run<'digest'>;

function webhookUrl({ environment }: Terminal): URL {
  const { SYNC_DIGEST_URL: url } = readSyncSettings(environment);
  if (url !== undefined) return new URL(url);
  throw new UsageError('--to: expected SYNC_DIGEST_URL, the address of the webhook, got nothing');
}

const POST_TIMEOUT_MS = 15_000;

/**
 * Posts the digest. Posts again only after a 429, by the client's own rule, since any other repeat could cause a
 * second message. Errors mention only the host, since the address is a secret.
 */
async function post(
  to: WebhookService,
  url: URL,
  digest: { readonly subject: string; readonly text: string },
  { environment, signal, err }: Terminal,
): Promise<void> {
  const body = printJson(await webhookBody(to, digest));
  const exchange = createExchange(environment);
  const startMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const failure = await postOnce(exchange, { to, url, body, signal });
    if (failure === undefined) return err(`posted to ${to}`);
    const elapsedMs = performance.now() - startMs;
    const limits = defaultRetryLimits;
    const decision = decideRetry({
      failure,
      mayRepeat: false,
      attempt,
      elapsedMs,
      random: Math.random(),
      limits,
    });
    if (decision.kind === 'stop') throw refusedError(to, url, failure.status);
    err(`the webhook for ${to} is throttling: posting again in ${Math.ceil(decision.delayMs / 1_000)} s`);
    await sleep(decision.delayMs, signal);
  }
}

const refusedError = (to: WebhookService, url: URL, status: number) =>
  new Error(
    `the webhook for ${to} at ${url.host} refused the digest: ${status}${status === 429 ? '' : '; check that SYNC_DIGEST_URL is still valid'}`,
  );

/** Posts once. Returns the failure if the webhook refused it; undefined if the webhook accepted it. */
async function postOnce(
  exchange: ReturnType<typeof createExchange>,
  options: {
    readonly to: WebhookService;
    readonly url: URL;
    readonly body: string;
    readonly signal: AbortSignal;
  },
): Promise<Extract<PlatformFailure, { readonly kind: 'status' }> | undefined> {
  const { to, url, body, signal } = options;
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(POST_TIMEOUT_MS)]);
  const request = { url, method: 'POST', headers, body, timeoutMs: POST_TIMEOUT_MS, fresh: true };
  const responded = await exchange(request, limit, () => undefined).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error(`the webhook for ${to} at ${url.host} could not be reached: ${errorText(error)}`);
  });
  responded.body.destroy();
  const { status } = responded;
  if (status >= 200 && status <= 299) return undefined;
  const retryAfterMs = parseRetryAfter(responded.headers, Date.now());
  return { kind: 'status', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
