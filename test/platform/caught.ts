import { PlatformError } from '../../lib/platform/platform-error.ts';

/** Returns the `PlatformError` that the promise rejects with. Any other outcome fails the test. */
export async function caught(promise: Promise<unknown>): Promise<PlatformError> {
  const error = await thrown(promise);
  if (!(error instanceof PlatformError)) throw new Error('expected a PlatformError', { cause: error });
  return error;
}

/** Returns the error that the promise rejects with. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection, but it was fulfilled');
}
