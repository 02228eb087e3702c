import * as z from 'zod/mini';
import { parsePattern } from '../lib/contract.ts';
import { name, text, uuid } from './config-fields.ts';
import { feedsItself } from './own-events.ts';

/** A path to a field of an event: names and indexes from its root. */
export const isEventPath = (value: unknown): value is string =>
  typeof value === 'string' && /^\$(\.[A-Za-z0-9_-]+|\[\d+\])+$/.test(value);

/** What a rule passes on: a text that begins with `$.` stands for the event's field at that path, of any JSON type. */
const inputValue = z.unknown().check(
  z.refine((value) => faultIn(value) === undefined, {
    error: 'JSON without < and >, in which a text that begins with $ is a path such as $.detail.object.key',
  }),
);

/** EventBridge treats what is between < and > as a variable. */
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

const EXPECTED_PATTERN = 'an event pattern, such as {"source": ["aws.s3"]}';

const NO_LOOP =
  'a pattern that matches no end of a run-function job: its function would run again each time that it ends, for ever; narrow source, or detail.type';

/** What EventBridge accepts as a pattern, checked by what matches events in the local stack too. */
const pattern = z.record(z.string(), z.unknown(), { error: EXPECTED_PATTERN }).check(({ value, issues }) => {
  const parsed = parsePattern(value);
  if (parsed.kind === 'pattern') {
    if (feedsItself(parsed.pattern)) issues.push({ code: 'custom', message: NO_LOOP, input: undefined });
    return;
  }
  for (const { path, expected } of parsed.faults)
    issues.push({ code: 'custom', path: [...path], message: expected, input: undefined });
});

/** Any event becomes a `run-function` message, whose id is the event's. */
export const eventRuleSchema = z.strictObject(
  {
    name,
    /** As EventBridge has it: names of fields with lists of what matches, exactly as it is deployed. */
    pattern,
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
