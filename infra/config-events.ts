import * as z from 'zod/mini';
import { filled, name, text, uuid } from './config-fields.ts';

/** A field of an event: names and places from its root. */
export const isEventPath = (value: unknown): value is string =>
  typeof value === 'string' && /^\$(\.[A-Za-z0-9_-]+|\[\d+\])+$/.test(value);

/** What a rule hands on: a text that begins with `$.` is the event's field there, of whatever JSON type. */
const inputValue = z.unknown().check(
  z.refine((value) => faultIn(value) === undefined, {
    error: 'JSON without < and >, and texts that begin with $ as paths such as $.detail.object.key',
  }),
);

/** EventBridge takes what is between < and > for a variable. */
function faultIn(value: unknown): string | undefined {
  if (typeof value === 'string') {
    const isPath = !value.startsWith('$') || isEventPath(value);
    return isPath && !/[<>]/.test(value) ? undefined : value;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value)
    .flatMap(([key, each]) => [/[<>$]/.test(key) ? key : undefined, faultIn(each)])
    .find((fault) => fault !== undefined);
}

const pathSegment = text('text without slashes, spaces, < and >', /^[^/\s<>]{1,200}$/);

function isPattern(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'object' || value === null) return false;
  const fields = Object.values(value);
  return fields.length > 0 && fields.every(isPattern);
}

const pattern = z.record(filled('a field of the event'), z.unknown(), {
  error: 'an event pattern, such as {"source": ["aws.s3"]}',
});

/** Any event becomes a `run-function` message, whose id is the event's. */
export const eventRuleSchema = z.strictObject(
  {
    name,
    /** As EventBridge takes it: names of fields to lists of what matches. */
    pattern: pattern.check(
      z.refine(isPattern, { error: 'an event pattern: fields, and lists of what matches at their ends' }),
    ),
    packageId: uuid('a package'),
    packageVersion: pathSegment,
    functionName: pathSegment,
    inputVariables: z.optional(
      z.record(text('a name without < and >', /^[^<>]+$/), inputValue, {
        error: 'an object of input variables',
      }),
    ),
    onUnknown: z.optional(z.enum(['fail', 'retry'], { error: 'fail or retry' })),
  },
  { error: 'an event rule' },
);

export type EventRule = z.infer<typeof eventRuleSchema>;
