import { PlatformError } from '../../lib/platform/platform-error.ts';

/** The `PlatformError` that this ends with; anything else is the test's fault. */
export async function caught(promise: Promise<unknown>): Promise<PlatformError> {
  const error = await thrown(promise);
  if (!(error instanceof PlatformError)) throw new Error('expected a PlatformError', { cause: error });
  return error;
}

/** Whatever this is rejected with. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection, but it was fulfilled');
}
