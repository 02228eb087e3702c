import * as z from 'zod/mini';
import { PlatformError } from '../../platform/platform-error.ts';
import type { GateName } from '../gate-names.ts';
import type { ScanOutcome } from '../scan.ts';

/** An id that was asked for and answered 404 or 403. */
export type MissingId = ScanOutcome['missing'][number];

export const missingIdSchema: z.ZodMiniType<MissingId> = z.object({ id: z.string(), status: z.number() });

/** What an error says of the id that was asked for: that it is missing, or undefined where it says something else. */
export function missingId(id: string, error: unknown): MissingId | undefined {
  if (!(error instanceof PlatformError) || error.failure.kind !== 'status') return undefined;
  const { status } = error.failure;
  return status === 404 || status === 403 ? { id, status } : undefined;
}

/** Some ids may be missing; if all are, the token has no rights or the address is wrong, and that is no snapshot. */
export function refusedForMissing(missing: readonly MissingId[], asked: number): readonly GateName[] {
  return missing.length > 0 && missing.length === asked ? ['incomplete'] : [];
}
