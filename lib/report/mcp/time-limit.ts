import { ToolError } from './tool.ts';

/** The most seconds that a call may take, unless it says less. */
export const MOST_SECONDS = 20;

/**
 * Does some work with a signal that is aborted with the call, or when the time is over: then `ToolError` is thrown, which
 * ends in `instead`, what to do.
 */
export async function withinTime<T>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  { seconds = MOST_SECONDS, instead }: { readonly seconds?: number; readonly instead: string },
): Promise<T> {
  const stop = new AbortController();
  const timer = setTimeout(
    () => stop.abort(new ToolError(`this took longer than ${seconds} s and was stopped: ${instead}`)),
    seconds * 1_000,
  );
  try {
    return await work(AbortSignal.any([signal, stop.signal]));
  } catch (error) {
    if (!signal.aborted) stop.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
