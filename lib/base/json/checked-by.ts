import type * as z from 'zod/mini';

/**
 * Zod passes all faults on as the arguments of one call: those of a hostile list take gigabytes, or overflow the stack.
 * So only the first fault of a large value is reported.
 */
export function checkedBy<T>(
  schema: Pick<z.ZodMiniType<T>, 'safeParse'>,
  value: unknown,
): z.core.util.SafeParseResult<T> {
  const checked = schema.safeParse(value, FIRST_FAULT);
  return checked.success || isLarge(value) ? checked : schema.safeParse(value);
}

const FIRST_FAULT: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

const MOST_VALUES = 50_000;
/** What an object counts for, since each of its members may be missing. */
const OBJECT = 10;

function isLarge(value: unknown): boolean {
  let left = MOST_VALUES;
  const open = [value];
  while (open.length > 0 && left > 0) {
    const each = open.pop();
    const isObject = typeof each === 'object' && each !== null;
    left -= isObject ? OBJECT : 1;
    if (!isObject) continue;
    for (const name in each) {
      open.push(Reflect.get(each, name));
      if (open.length > left) return true;
    }
  }
  return left <= 0;
}
