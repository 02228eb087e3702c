import * as z from 'zod/mini';
import { valueFaults } from '../lib/contract.ts';
import { name, text, uuid } from './config-fields.ts';
import { parsePattern } from './event-pattern/parse-pattern.ts';
import { feedsItself } from './own-events.ts';

const NO_BRACKETS = 'no < or >, between which EventBridge inserts a variable';

const NO_ROUNDING = 'a number below 2^53, or text: the digits of this one are lost as JSON is read';

/** What cannot stand in a template of EventBridge as it was written. */
function templateFaults(value: unknown, path: readonly string[] = []): readonly TemplateFault[] {
  if (typeof value === 'string') return /[<>]/.test(value) ? [{ path, expected: NO_BRACKETS }] : [];
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [{ path, expected: NO_ROUNDING }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...templateFaults(key, [...path, key]),
    ...templateFaults(each, [...path, key]),
  ]);
}

type TemplateFault = { readonly path: readonly string[]; readonly expected: string };

/** What a rule passes on: JSON in which some texts and objects stand for fields of the event. The job fills them in. */
const inputVariables = z
  .record(z.string(), z.unknown(), { error: 'an object of input variables' })
  .check(({ value, issues }) => {
    for (const { path, expected } of [...valueFaults(value), ...templateFaults(value)])
      issues.push({ code: 'custom', path: [...path], message: expected, input: undefined });
  });

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

/** A bus of the same account and region: only there may a rule send to the stack's queue without a role. */
const bus = text('the name of an event bus, such as orders', /^(?!arn:)[\w./-]{1,256}$/);

/** Any event becomes a `run-function` message with the whole event in it. */
export const eventRuleSchema = z.strictObject(
  {
    /** Names the rule, and goes into the ids of its jobs: another name is another job. Required. */
    name,
    /** As EventBridge has it: names of fields with lists of what matches, exactly as it is deployed. */
    pattern,
    /** Where the events are put. Default: the bus of the account, on which AWS's own events are. */
    bus: z.optional(bus),
    /** The package of the function. Required, as its version and its name. */
    packageId: uuid('a package'),
    /** A released version. */
    packageVersion: pathSegment,
    /** The function that an event runs, once for each event. */
    functionName: pathSegment,
    /** What it gets: JSON in which a text such as `$.detail.id` stands for a field of the event. Default: nothing. */
    inputVariables: z.optional(inputVariables),
    /** Whether it may run again where nobody knows if it has run. Default: fail. */
    onUnknown: z.optional(z.enum(['fail', 'retry'], { error: 'fail or retry' })),
  },
  { error: 'an event rule' },
);

export type EventRule = z.infer<typeof eventRuleSchema>;
