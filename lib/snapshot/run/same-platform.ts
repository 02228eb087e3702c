import { isSamePlatform } from '../platform-host.ts';
import type { Checkpoint } from './checkpoint.ts';

/** A run cannot be resumed against another platform than the one it was begun on: it would mix the records of both. */
export class OtherPlatformError extends Error {
  override readonly name = 'OtherPlatformError';

  constructor({ source, run, platform }: Checkpoint, given: string) {
    super(
      `run ${run} of ${source} was begun on ${platform}: expected that platform to resume it, got ${given}`,
    );
  }
}

/** Throws `OtherPlatformError` if a run was begun on another platform than this one. */
export function checkPlatform(checkpoint: Checkpoint, platform: string): void {
  if (!isSamePlatform(checkpoint.platform, platform)) throw new OtherPlatformError(checkpoint, platform);
}
