import { describeFailure, isStatus, isUnreached } from '../../platform/failure.ts';
import { createExchange } from '../../platform/http/exchange.ts';
import { PlatformError } from '../../platform/platform-error.ts';
import { type Check, type Examined, type Finding, failed, ok, skipped } from './check.ts';

const HOST_MS = 10_000;

/** The head of what the origin responds, whatever that is: no token is sent. */
async function headOf({ settings, environment, signal }: Examined) {
  const exchange = createExchange({ proxyEnv: environment });
  const request = {
    url: new URL(settings.PLATFORM_BASE_URL),
    method: 'HEAD',
    headers: {},
    timeoutMs: HOST_MS,
    fresh: true,
  };
  const { headers, body } = await exchange(
    request,
    AbortSignal.any([signal, AbortSignal.timeout(HOST_MS)]),
    () => undefined,
  );
  body.destroy();
  return headers;
}

/** The platform can be reached at its address, and responds as one. */
export const checkHost: Check = async (examined) => {
  const { host } = new URL(examined.settings.PLATFORM_BASE_URL);
  try {
    await examined.firstRead();
  } catch (error) {
    if (!(error instanceof PlatformError)) return reachedAlone(examined, host);
    const { failure } = error;
    if (isUnreached(failure) || failure.kind === 'connection' || failure.kind === 'timeout') throw error;
    if (failure.kind === 'redirect' || failure.kind === 'not-json' || isStatus(failure, 404))
      return failed(
        `${host}: ${describeFailure(failure)}`,
        'check PLATFORM_BASE_URL: is it the instance’s own address, and may this machine’s address call it?',
      );
  }
  return ok(`${host} responds`);
};

/** Where no call can be made, since there is no token, say. */
async function reachedAlone(examined: Examined, host: string): Promise<Finding> {
  try {
    await headOf(examined);
    return ok(`${host} responds`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return failed(
      `${host} cannot be reached: ${code}`,
      'check PLATFORM_BASE_URL, and HTTPS_PROXY if it is set',
    );
  }
}

/** The platform accepts the token. */
export const checkToken: Check = async ({ firstRead, settings }) => {
  const place = settings.PLATFORM_TOKEN === undefined ? 'PLATFORM_TOKEN_SECRET' : 'PLATFORM_TOKEN';
  try {
    await firstRead();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const { failure } = error;
    if (failure.kind === 'wait') return skipped(`not tried: ${describeFailure(failure)}`);
    if (failure.kind !== 'status' || failure.status === 401 || failure.status >= 500) throw error;
  }
  return ok(`accepted (${place}, in ${settings.PLATFORM_TOKEN_HEADER})`);
};

/** Further off, AWS refuses requests within minutes, and runs are named and dated wrongly. */
const MOST_OFF_MS = 60_000;

/** This machine's clock is near that of the platform, which has whole seconds. */
export const checkClock: Check = async (examined) => {
  const { date } = await headOf(examined);
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return skipped('the platform does not say what time it is');
  const offMs = examined.now() - theirs;
  const words = `${(Math.abs(offMs) / 1_000).toFixed(0)} s ${offMs < 0 ? 'behind' : 'ahead of'} the platform’s`;
  return Math.abs(offMs) <= MOST_OFF_MS
    ? ok(words)
    : failed(
        words,
        'set this machine’s clock (NTP): AWS refuses requests of a clock that is off by 5 minutes',
      );
};

/** Statuses that say that the operation is allowed, though there is no such record. */
const ALLOWED: ReadonlySet<number> = new Set([400, 404]);

const NO_DATASET = '00000000-0000-4000-8000-000000000000';

/** The token's user may read; what runs, changes or costs something is not tried. */
export const checkRights: Check = async ({ firstRead, session: { platform }, signal }) => {
  const reads = {
    calculations: firstRead,
    cards: () => platform.cards.ofDataset(NO_DATASET, { signal }),
    'data files': () => platform.dataFiles.get('0', { signal }),
  } as const;
  const refused: string[] = [];
  for (const [name, read] of Object.entries(reads)) {
    try {
      await read();
    } catch (error) {
      const failure = error instanceof PlatformError ? error.failure : undefined;
      if (failure?.kind === 'status' && failure.status === 403) refused.push(name);
      else if (failure?.kind !== 'status' || !ALLOWED.has(failure.status)) throw error;
    }
  }
  return refused.length === 0
    ? ok(`${Object.keys(reads).join(', ')} may be read; what runs, changes or costs something is not tried`)
    : failed(
        `may not read ${refused.join(', ')} (403)`,
        'give the token’s user the right to, or use another token',
      );
};
