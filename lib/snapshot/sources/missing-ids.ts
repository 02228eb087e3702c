import * as z from 'zod/mini';
import { PlatformError } from '../../platform/platform-error.ts';
import type { GateName } from '../gate-names.ts';
import type { ScanOutcome } from '../scan.ts';

/** A requested id for which the platform responded 404 or 403. */
export type MissingId = ScanOutcome['missing'][number];

export const missingIdSchema: z.ZodMiniType<MissingId> = z.object({ id: z.string(), status: z.number() });

/** The requested id as missing, if the error says so; undefined for any other error. */
export function missingId(id: string, error: unknown): MissingId | undefined {
  if (!(error instanceof PlatformError) || error.failure.kind !== 'status') return undefined;
  const { status } = error.failure;
  return status === 404 || status === 403 ? { id, status } : undefined;
}

/** Some ids may be missing. If all are, the token has no rights or the address is wrong: that is not a snapshot. */
export function refusedForMissing(missing: readonly MissingId[], requested: number): readonly GateName[] {
  return missing.length > 0 && missing.length === requested ? ['incomplete'] : [];
}
