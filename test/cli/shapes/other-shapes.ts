import * as z from 'zod/mini';
import { byName, count, id, moment, orNull, text } from './common.ts';

/** What the platform calls a calculation: its members are the platform's, its id is text. */
const calculation = z.looseObject({ id, name: z.optional(text), expression: z.optional(text) });

/** The calculation after the update; with `--dry-run` what would change. */
export const formulaSet = z.union([calculation, z.looseObject({ id, dryRun: z.literal(true) })]);

/** The updates; with `--at` the calculation after that one. */
export const formulaLog = z.union([
  z.array(z.strictObject({ time: text, key: text, calculation })),
  calculation,
]);

const facts = {
  functions: z.array(text),
  columnPositions: z.array(z.strictObject({ columnName: text, columnPosition: count })),
  aggregated: z.boolean(),
  analytic: z.boolean(),
  nonAggregatedColumns: z.array(text),
  columns: z.array(text),
  references: z.array(z.strictObject({ kind: z.enum(['calculation', 'variable']), id })),
  checkSum: text,
};

const fault = z.strictObject({ message: text, offset: count, line: count, column: count });

export const formulaCheck = z.union([
  z.strictObject({ status: z.literal('VALID'), dataType: text, ...facts }),
  z.strictObject({ status: z.literal('INVALID'), faults: z.array(fault), ...facts }),
]);

/** What the platform calls a function execution. */
export const call = z.looseObject({ executionId: id, status: text });

const rate = z.number();

export const pace = z.strictObject({
  host: text,
  paused: z.boolean(),
  pausedAt: orNull(moment),
  rate,
  cap: z.optional(z.strictObject({ rate, configuredRate: rate })),
  effectiveRate: rate,
  intervalMs: z.number(),
  lowered: orNull(z.strictObject({ rate, at: orNull(moment) })),
  probing: z.optional(z.literal(true)),
  incidents: count,
  breaker: orNull(z.strictObject({ since: orNull(moment), cause: text, probeAt: orNull(moment) })),
  waitMs: count,
  granted: count,
  used: count,
  wasted: count,
  waitedMs: z.number(),
  throttled: count,
});

const checked = z.strictObject({
  name: text,
  status: z.enum(['ok', 'skipped', 'failed']),
  detail: text,
  advice: z.optional(text),
});

export const doctor = z.strictObject({ well: z.boolean(), checks: z.array(checked) });

/** The settings of an environment. */
export const sandbox = byName(text);

/** A list of rows: members are the columns that the SQL names. */
export const query = z.array(byName(z.unknown()));

/** What any command prints in place of its own value if it fails. */
export const failure = z.strictObject({
  error: z.looseObject({
    kind: text,
    message: text,
    failure: z.optional(text),
    status: z.optional(count),
    reference: z.optional(text),
    mayHaveTakenEffect: z.optional(z.boolean()),
    faults: z.optional(z.array(text)),
    run: z.optional(text),
  }),
});
