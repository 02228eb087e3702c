import * as z from 'zod/mini';
import { valueFaults } from '../lib/contract.ts';
import { atSynth, isToken, name, orToken, text, uuid } from './config-fields.ts';
import type { RuleFault } from './config-schedules.ts';
import { feedsItself, type OwnStore } from './own-events.ts';
import { at } from './template-size.ts';

const NO_BRACKETS = 'no < or >, between which EventBridge inserts a variable';

const NO_ROUNDING = 'a number below 2^53, or a string: reading this number from JSON loses digits';

/** Finds strings and numbers that a template of EventBridge cannot pass on unchanged. */
function templateFaults(value: unknown, path: readonly string[] = []): readonly TemplateFault[] {
  if (isToken(value)) return [];
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

/** The inputs of a rule's function: JSON in which some strings and objects stand for fields of the event. */
const inputVariables = z
  .record(z.string(), z.unknown(), { error: 'an object of input variables' })
  .check(({ value, issues }) => {
    const faults = valueFaults(value).filter(({ path }) => !isToken(at(value, ...path.map(String))));
    for (const { path, expected } of [...faults, ...templateFaults(value)])
      issues.push({ code: 'custom', path: [...path], message: expected, input: undefined });
  });

/** A segment of a function's path. */
export const pathSegment = text('a value without slashes, spaces, < and >', /^[^/\s<>]{1,200}$/);

const EXPECTED_PATTERN = 'an event pattern, such as {"source": ["aws.s3"]}';

const EXPECTED_FIELDS = 'an object of fields, each with a list of matching values or a further object';

/** Finds faults in the structure of a pattern. EventBridge itself checks the lists in it at deployment. */
function shapeFaults(value: unknown, path: readonly string[] = []): readonly TemplateFault[] {
  if (Array.isArray(value))
    return value.length > 0 && path.length > 0 ? [] : [{ path, expected: EXPECTED_FIELDS }];
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (fields.length === 0) return [{ path, expected: EXPECTED_FIELDS }];
  return fields.flatMap(([name, each]) => shapeFaults(each, [...path, name]));
}

const pattern = z.record(z.string(), z.unknown(), { error: EXPECTED_PATTERN }).check(({ value, issues }) => {
  for (const { path, expected } of shapeFaults(value))
    issues.push({ code: 'custom', path: [...path], message: expected, input: undefined });
});

/** Finds rules whose functions would start themselves again whenever they end. */
export function loopFaults(
  rules: readonly Readonly<Record<string, unknown>>[],
  store: OwnStore,
): readonly RuleFault[] {
  return rules.flatMap(({ pattern: given }, index) => {
    if (typeof given !== 'object' || given === null) return [];
    const own = feedsItself(given as Readonly<Record<string, unknown>>, store);
    if (own === undefined) return [];
    const { source, detailType } = own;
    const narrower = NARROWER[source] ?? 'other calls in detail.eventName';
    const expected = `a pattern that does not match the events that its own function causes (${source}, ${detailType}), since they would start the function again and again. At the top level, not in $or, use another source, another detail-type, or ${narrower}`;
    return [{ path: ['eventRules', index, 'pattern'], expected }];
  });
}

const NARROWER: Readonly<Record<string, string>> = {
  'platform-sync': 'other types in detail.type',
  'aws.s3': 'another bucket in detail.bucket.name, or keys outside the store in detail.object.key',
};

/** A bus of the same account and region: a rule of another bus would need a role to send to the stack's queue. */
const bus = text('the name of an event bus, such as orders', /^(?!arn:)[\w./-]{1,256}$/);

/** An event rule: each matching event becomes a `run-function` message that contains the whole event. */
const eventRuleFields = {
  /**
   * The rule's name, which is part of its jobs' ids. If you rename a rule, an event can run its function again.
   * Required.
   */
  name: atSynth(name),
  /**
   * An event pattern of EventBridge, deployed unchanged: names of fields with lists of matching values.
   * Required.
   */
  pattern,
  /** The name of the event bus. Default: the default bus of the account, which has AWS's own events. */
  bus: z.optional(bus),
  /** The UUID of the function's package. Required. */
  packageId: uuid('a package'),
  /** A released version of the package. Required. */
  packageVersion: pathSegment,
  /** The name of the function, which runs once for each event. Required. */
  functionName: pathSegment,
  /**
   * The function's inputs: JSON in which a string such as `$.detail.id` stands for a field of the event. Default: none.
   */
  inputVariables: z.optional(inputVariables),
  /** What to do if it is unknown whether the function ran: fail, or retry, which may run it twice. Default: fail. */
  onUnknown: z.optional(orToken(z.enum(['fail', 'retry']), 'fail or retry')),
};
export interface EventRuleSchema extends z.ZodMiniObject<typeof eventRuleFields, z.core.$strict> {}
export const eventRuleSchema: EventRuleSchema = z.strictObject(eventRuleFields, { error: 'an event rule' });

/** An event rule that was checked. */
export type EventRule = z.infer<typeof eventRuleSchema>;
