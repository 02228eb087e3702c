import type { OpenBreaker } from '../../pace/budget.ts';
import type { PlatformEvent } from '../../platform/index.ts';
import type { Settings } from '../../settings.ts';

type Token = Pick<Settings, 'PLATFORM_BASE_URL' | 'PLATFORM_TOKEN' | 'PLATFORM_TOKEN_SECRET'>;

/**
 * Watches whether the platform refuses the token, for a person who can see to it: each job would only be refused like
 * the first. With a token that cannot change the first refusal counts. One of a secret is read again after that: it
 * counts that it is refused then, and that jobs are stopped for it. That alone does not: they may be stopped for the
 * token of another worker.
 */
export function createTokenWatch({ PLATFORM_BASE_URL, PLATFORM_TOKEN, PLATFORM_TOKEN_SECRET }: Token) {
  const stop = new AbortController();
  const isFixed = PLATFORM_TOKEN !== undefined;
  let refusals = 0;
  let isStopped = false;
  const stopIfSure = () => {
    if (isFixed ? refusals > 0 : isStopped && refusals > 1) stop.abort();
  };
  return {
    /** Aborted once the token is refused. */
    get signal(): AbortSignal {
      return stop.signal;
    },
    /** For the session that works with the token. */
    hooks: {
      observe(event: PlatformEvent) {
        if (event.kind !== 'request' || event.status !== 401) return;
        refusals += 1;
        stopIfSure();
      },
      onAway({ cause }: OpenBreaker) {
        isStopped = cause === 'refused token';
        stopIfSure();
      },
    },
    /** What to say of a refusal; undefined if there was none. */
    refusal() {
      if (!stop.signal.aborted) return undefined;
      const from = isFixed
        ? 'the one in PLATFORM_TOKEN'
        : `in ${PLATFORM_TOKEN_SECRET}, which PLATFORM_TOKEN_SECRET names`;
      return `platform-sync: ${new URL(PLATFORM_BASE_URL).host} refused the token (401): is it correct, and neither expired nor revoked? It is ${from}. No job was done with it; all that were taken were put back`;
    },
  };
}
