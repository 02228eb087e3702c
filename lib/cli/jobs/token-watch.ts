import type { OpenBreaker } from '../../pace/budget.ts';
import type { PlatformEvent } from '../../platform/index.ts';
import { exitCodes } from '../terminal/terminal.ts';

/** The platform's host, where the token comes from, in words, and whether no other can come, as from a secret. */
type Token = { readonly host: string; readonly from: string; readonly isFixed: boolean };

/**
 * Watches whether the platform refuses the token, for a person who can see to it: each job would only be refused like
 * the first. With a token that cannot change the first refusal counts. One of a secret is read again after that: it
 * counts that it is refused then, and that jobs are stopped for it. That alone does not: they may be stopped for the
 * token of another worker.
 */
export function createTokenWatch({ host, from, isFixed }: Token) {
  const stop = new AbortController();
  let refusals = 0;
  let isStopped = false;
  const stopIfSure = () => {
    const isSure = isFixed ? refusals > 0 : isStopped && refusals > 1;
    if (isSure) stop.abort();
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
    /** What to say, and the exit code. Undefined if it was not refused. */
    fault: () =>
      stop.signal.aborted
        ? {
            words: `platform-sync: ${host} refused the token (401): is it correct, and neither expired nor revoked? It is ${from}. No job was done with it; all that were taken were put back`,
            code: exitCodes.failed,
          }
        : undefined,
  };
}
