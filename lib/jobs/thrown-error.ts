/**
 * What a runner threw, as an error whose message, stack and properties can be read, logged and recorded: whatever was
 * thrown. An error that can be read is returned as it is.
 */
export function thrownError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) {
      if (typeof thrown.message !== 'string') return new Error('an error without a text', { cause: thrown });
      // A getter may throw; whatever logs the error reads them all.
      for (const name of ['name', 'stack', 'cause', ...Object.keys(thrown)]) Reflect.get(thrown, name);
      return thrown;
    }
    return new Error(String(thrown));
  } catch {
    return new Error('an error that cannot be read');
  }
}
