/** What an EventBridge pattern allows as a value. */
type Allowed = string | number | boolean | null | Readonly<Record<string, unknown>>;

/**
 * Whether an event matches a pattern: it has every field of the pattern, with one of the listed values. Supports plain
 * values, `prefix`, `suffix` and `wildcard`; throws for other filters.
 */
export const matchesPattern = (pattern: object, event: unknown): boolean =>
  Object.entries(pattern).every(([name, allowed]) => {
    const value = (event as Readonly<Record<string, unknown>> | undefined)?.[name];
    if (!Array.isArray(allowed)) return matchesPattern(allowed, value);
    return allowed.some((each: Allowed) => [value].flat().some((one) => isAllowed(each, one)));
  });

function isAllowed(allowed: Allowed, value: unknown): boolean {
  if (typeof allowed !== 'object' || allowed === null) return allowed === value;
  const [[kind = '', wanted] = []] = Object.entries(allowed);
  if (typeof wanted !== 'string' || !(kind in FILTERS)) throw new Error(`${kind}: expected ${FILTER_NAMES}`);
  return typeof value === 'string' && FILTERS[kind as keyof typeof FILTERS](value, wanted);
}

const FILTERS = {
  prefix: (value: string, wanted: string) => value.startsWith(wanted),
  suffix: (value: string, wanted: string) => value.endsWith(wanted),
  wildcard: (value: string, wanted: string) => matchesWildcard(value, wanted, '*'),
};

const FILTER_NAMES = Object.keys(FILTERS).join(', ');

/** Whether a text matches a form in which `*` is any text and, if it is among the marks, `?` is any character. */
export const matchesWildcard = (value: string, form: string, marks: '*' | '*?'): boolean =>
  new RegExp(
    `^${form.replaceAll(/[\\^$.*+?()[\]{}|]/g, (mark) =>
      mark === '*' ? '.*' : mark === '?' && marks === '*?' ? '.' : `\\${mark}`,
    )}$`,
    's',
  ).test(value);
