import type { Analyze } from '../jobs/texts/scoring/score-texts-options.ts';

/**
 * Lets a call that has left finish, even if its signal is aborted: it is paid for, so its response must be stored. A
 * call that still waits for its turn ends at once.
 */
export const finishingCalls =
  (analyze: Analyze): Analyze =>
  async (request, { signal, onLeave, ...options } = {}) => {
    const waiting = new AbortController();
    const stop = () => waiting.abort(signal?.reason);
    const leave = () => {
      signal?.throwIfAborted();
      onLeave?.();
      signal?.removeEventListener('abort', stop);
    };
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop);
    try {
      return await analyze(request, { ...options, signal: waiting.signal, onLeave: leave });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  };
