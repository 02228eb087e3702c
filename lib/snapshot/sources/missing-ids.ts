import { PlatformError } from '../../platform/index.ts';
import type { GateName, MissingId } from '../scan.ts';

/** The requested id as missing, if the error says so; undefined for any other error. */
export function missingId(id: string, error: unknown): MissingId | undefined {
  if (!(error instanceof PlatformError) || error.failure.kind !== 'status') return undefined;
  const { status } = error.failure;
  return status === 404 || status === 403 ? { id, status } : undefined;
}

/** Some ids may be missing. If all are, the token has no rights or the address is wrong: that is not a snapshot. */
export function refusedForMissing(missing: number, requested: number): readonly GateName[] {
  return missing > 0 && missing === requested ? ['incomplete'] : [];
}
