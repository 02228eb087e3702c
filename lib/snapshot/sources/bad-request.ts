import { PlatformError } from '../../platform/index.ts';

/** True if the platform responded 400: it does not know an order that was requested, for one. */
export const isBadRequest = (error: unknown): boolean =>
  error instanceof PlatformError && error.failure.kind === 'status' && error.failure.status === 400;
