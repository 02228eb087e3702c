/** What a runner threw as an error that can be logged and recorded: whatever it is, it counts. One that can be read stays. */
export function thrownError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown));
    if (typeof thrown.message !== 'string') return new Error('an error without a text', { cause: thrown });
    // A getter may throw; whatever logs the error reads them all.
    for (const name of ['name', 'stack', 'cause', ...Object.keys(thrown)]) Reflect.get(thrown, name);
    return thrown;
  } catch {
    return new Error('an error that cannot be read');
  }
}

/** Causes of an error that are looked at: errors may be each other's. */
const MOST_CAUSES = 10;

export function isCausedBy(error: unknown, reason: unknown): boolean {
  for (let [each, depth] = [error, 0]; depth < MOST_CAUSES && each instanceof Error; depth += 1) {
    if (each === reason) return true;
    each = each.cause;
  }
  return false;
}
