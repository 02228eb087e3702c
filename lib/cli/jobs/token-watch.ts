import type { OpenBreaker } from '../../pace/breaker.ts';
import type { PlatformEvent } from '../../platform/index.ts';
import { exitCodes } from '../terminal/terminal.ts';

export type TokenWatchOptions = {
  /** The platform's host. */
  readonly host: string;
  /** Where the token comes from, in words. */
  readonly from: string;
  /** No other token can come: a secret may have been changed since it was read. */
  readonly isFixed: boolean;
};

/** What a watch has seen so far. */
export type TokenWatch = {
  /** Aborted once the token is refused. */
  readonly signal: AbortSignal;
  /** For the session that works with the token. */
  readonly hooks: { observe(event: PlatformEvent): void; onAway(breaker: OpenBreaker): void };
  /** What to say, and the exit code. Undefined if it was not refused. */
  fault(): { readonly words: string; readonly code: number } | undefined;
};

/**
 * Watches whether the platform refuses the token, for a person who can see to it: each job would only be refused like
 * the first. With a token that cannot change the first refusal counts. One of a secret is read again after that: it
 * counts that it is refused then, and that jobs are stopped for it. That alone does not: they may be stopped for the
 * token of another worker.
 */
export function createTokenWatch({ host, from, isFixed }: TokenWatchOptions): TokenWatch {
  const stop = new AbortController();
  let refusals = 0;
  let isStopped = false;
  const stopIfSure = () => {
    const isSure = isFixed ? refusals > 0 : isStopped && refusals > 1;
    if (isSure) stop.abort();
  };
  return {
    signal: stop.signal,
    hooks: {
      observe(event) {
        if (event.kind !== 'request' || event.status !== 401) return;
        refusals += 1;
        stopIfSure();
      },
      onAway({ cause }) {
        isStopped = cause === 'refused token';
        stopIfSure();
      },
    },
    fault: () =>
      stop.signal.aborted
        ? {
            words: `platform-sync: ${host} refused the token (401): is it correct, and neither expired nor revoked? It is ${from}. No job was done with it; all that were taken were put back`,
            code: exitCodes.failed,
          }
        : undefined,
  };
}
