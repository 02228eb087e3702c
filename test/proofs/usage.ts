/** Thrown for invalid command-line arguments. The message is for the user. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns what `read` reads from the command line. For invalid arguments, prints the reason in one line and exits with 2. */
export function readUsage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isUsage(error)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

/** Whether an error is about usage, as the errors of `parseArgs` are. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_'));

/** Parses the number of an option. Throws an error that names the option unless the value is a whole number of at least 0. */
export function numberOption(option: string, given: string): number {
  if (!/^\d{1,9}$/.test(given)) throw wrong(`--${option}`, 'a whole number', given);
  return Number(given);
}

/** Checks that a name is one of `among`. Throws an error that lists them if it is not. */
export function oneOf<Name extends string>(what: string, given: string, among: readonly Name[]): Name {
  const found = among.find((each) => each === given);
  if (found === undefined) throw wrong(what, `one of ${among.join('; ')}`, given);
  return found;
}

/** The error for a value that is not what was expected. */
export const wrong = (what: string, expected: string, given: string): Error =>
  new UsageError(`${what}: expected ${expected}, got ${JSON.stringify(given)}`);
