/**
 * The value of an object's own member; undefined if it has none of that name. For names that came from outside: every
 * object also has `constructor`, `toString` and `__proto__`, which are not its own.
 */
export const own = <Value>(
  object: Readonly<Partial<Record<string, Value>>>,
  name: string,
): Value | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);
