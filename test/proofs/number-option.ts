/** The number that was given for an option. Throws an error that names the option, unless it is a whole number from 0 on. */
export function numberOption(option: string, given: string): number {
  if (!/^\d{1,9}$/.test(given))
    throw new RangeError(`--${option}: expected a whole number, got ${JSON.stringify(given)}`);
  return Number(given);
}
