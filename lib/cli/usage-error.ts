/** A command was given something it cannot take; the message says what was expected and what came. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
