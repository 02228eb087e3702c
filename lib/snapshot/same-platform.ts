const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** True if two hosts are one platform: a local platform may have another port with each start. */
export const isSamePlatform = (one: string, other: string): boolean =>
  one === other || (LOOPBACK.test(one) && LOOPBACK.test(other));

type BegunRun = { readonly source: string; readonly run: string; readonly platform: string };

/** A run cannot be resumed against another platform than the one it was begun on: it would mix the records of both. */
export class OtherPlatformError extends Error {
  override readonly name = 'OtherPlatformError';

  constructor({ source, run, platform }: BegunRun, given: string) {
    super(
      `run ${run} of ${source} was begun on ${platform}: expected that platform to resume it, got ${given}`,
    );
  }
}

export function checkPlatform(run: BegunRun, platform: string): void {
  if (!isSamePlatform(run.platform, platform)) throw new OtherPlatformError(run, platform);
}
