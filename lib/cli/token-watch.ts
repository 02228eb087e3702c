import type { OpenBreaker } from '../pace/breaker.ts';
import type { PlatformEvent } from '../platform/events.ts';
import { exitCodes } from './terminal.ts';

export type TokenWatchOptions = {
  /** The platform's host. */
  readonly host: string;
  /** Where the token comes from, in words. */
  readonly from: string;
  /** No other token can come: a secret may have been changed since it was read. */
  readonly isFixed: boolean;
};

/**
 * Watches whether the platform refuses the token, for a person who can see to it: each job would only be refused like
 * the first. With a token that cannot change the first refusal counts; otherwise that jobs are stopped for it, which a
 * call with the token as it is now has confirmed.
 */
export function createTokenWatch({ host, from, isFixed }: TokenWatchOptions) {
  const stop = new AbortController();
  return {
    /** Aborted once the token is refused. */
    signal: stop.signal,
    /** For the session that works with the token. */
    hooks: {
      observe(event: PlatformEvent): void {
        if (isFixed && event.kind === 'request' && event.status === 401) stop.abort();
      },
      onAway({ cause }: OpenBreaker): void {
        if (cause === 'refused token') stop.abort();
      },
    },
    /** Undefined if it was not refused. */
    fault: () =>
      stop.signal.aborted
        ? {
            words: `platform-sync: work: ${host} refused the token (401): is it correct, and neither expired nor revoked? It is ${from}. No job was done with it; all that were taken are back on the queue`,
            code: exitCodes.failed,
          }
        : undefined,
  };
}
