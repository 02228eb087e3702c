import type { CallOutcome } from '../pace/index.ts';
import type { Call } from './call.ts';
import type { PlatformFailure } from './failure.ts';
import { searchCalculations } from './operations/search-calculations.ts';
import { PlatformError } from './platform-error.ts';

/**
 * What a call shows about the platform; `failure` is undefined if the call succeeded. Even a call that the platform
 * rejects shows that the platform responds.
 */
export function callOutcome(failure: PlatformFailure | undefined): CallOutcome {
  switch (failure?.kind) {
    case undefined:
    case 'shape':
    case 'too-large':
      return 'answered';
    case 'status':
      return statusOutcome(failure.status);
    case 'connection':
    case 'timeout':
    case 'cut':
      return 'unreachable';
    case 'redirect':
    case 'not-json':
      return 'not the platform';
    case 'endless':
    case 'input':
    case 'wait':
      return 'neither';
    default:
      return failure satisfies never;
  }
}

function statusOutcome(status: number): CallOutcome {
  if (status === 401) return 'refused token';
  if (status === 429) return 'neither';
  return status >= 500 ? 'server errors' : 'answered';
}

/** Reading one row is fast. If it takes longer than this, in milliseconds, the platform counts as unavailable. */
const PROBE_TIMEOUT_MS = 20_000;

/**
 * Reads one calculation to test whether the platform responds. A token without the permission gets a response too.
 * Never throws.
 */
export async function probePlatform(call: Call): Promise<CallOutcome> {
  const body = { sort: { field: 'id', ascending: true }, limit: 1 };
  try {
    await call.raw({ ...searchCalculations, timeoutMs: PROBE_TIMEOUT_MS }, { body }, { once: true });
    return 'answered';
  } catch (error) {
    return error instanceof PlatformError ? callOutcome(error.failure) : 'neither';
  }
}
