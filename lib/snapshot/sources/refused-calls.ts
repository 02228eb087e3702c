import { PlatformError } from '../../platform/index.ts';
import type { GateName, MissingId } from '../scan.ts';

const statusOf = (error: unknown): number | undefined =>
  error instanceof PlatformError && error.failure.kind === 'status' ? error.failure.status : undefined;

/** True if the platform responded 400: it does not know an order that was requested, for one. */
export const isBadRequest = (error: unknown): boolean => statusOf(error) === 400;

/** True if the platform kept failing, after all retries. */
export const isServerError = (error: unknown): boolean => (statusOf(error) ?? 0) >= 500;

/** The requested id as missing, if the error says so; undefined for any other error. */
export function missingId(id: string, error: unknown): MissingId | undefined {
  const status = statusOf(error);
  return status === 404 || status === 403 ? { id, status } : undefined;
}

/** Some ids may be missing. If all are, the token has no rights or the address is wrong: that is not a snapshot. */
export const refusedForMissing = (missing: number, requested: number): readonly GateName[] =>
  missing > 0 && missing === requested ? ['incomplete'] : [];
