import * as z from 'zod/mini';
import {
  linkedSource,
  narrowings,
  placeOf as placeOfSource,
  requestFields,
  requestRules,
  type Source,
  sourceDefinitions,
  sources,
} from '../lib/contract.ts';
import { atSynth, integer, isToken } from './config-fields.ts';
import { cronFaults, EXPECTED_CRON } from './cron.ts';
import { FIRST_YEAR, longestGapHours, neverRuns } from './longest-gap.ts';
import { at } from './template-size.ts';
import { timeZoneFault } from './time-zone.ts';

/** When a schedule runs. */
export const cron = z.string({ error: EXPECTED_CRON }).check(({ value, issues }) => {
  const faults = cronFaults(value);
  for (const message of faults) issues.push({ code: 'custom', message, input: value });
  if (faults.length === 0 && neverRuns(value))
    issues.push({
      code: 'custom',
      message: `a cron expression that matches a date in ${FIRST_YEAR} or later`,
      input: value,
    });
});

/** The time zone of a cron. */
export const timeZone = z.string({ error: 'a time zone' }).check(({ value, issues }) => {
  const message = timeZoneFault(value);
  if (message !== undefined) issues.push({ code: 'custom', message, input: value });
});

/** The maximum of settings in hours: ten years, longer than the time between any two runs. */
const MAX_HOURS = 87_660;

/** How many hours late a snapshot may be published. */
const GRACE_HOURS = 2;

/** When a snapshot is taken, how late it may be, and whether a digest follows. */
const timing = {
  /**
   * An alarm goes off if no run of the schedule is published for this many hours. Default: the longest time
   * between two runs, plus 2.
   */
  publishedWithinHours: z.optional(atSynth(integer(1, MAX_HOURS))),
  /**
   * When to take it: a cron expression of EventBridge Scheduler, six fields. Required, except for a source whose
   * snapshot runs after each run of the source that it depends on.
   */
  cron: z.optional(cron),
  /** The IANA name of the cron's time zone. Default: UTC. */
  timeZone: z._default(timeZone, 'UTC'),
  /** Whether a digest of each published run goes to the receivers of alarms. Default: false. */
  digest: z.optional(z.boolean({ error: 'true or false' })),
} as const;

/** The issues about the type of a value. For a CDK token, all issues except these are ignored. */
const TYPE_ISSUES: readonly string[] = ['invalid_type', 'invalid_value', 'invalid_union'];

/**
 * Checks a field as the Lambda functions will, but keeps the value as it is written, since they parse it
 * themselves.
 */
function unparsed(field: z.core.$ZodType) {
  const faultsIn = (value: unknown) =>
    (z.core.safeParse(field, value).error?.issues ?? []).filter(
      // Of a CDK token it is only known that it is a string.
      ({ path, code }) => TYPE_ISSUES.includes(code) || !isToken(at(value, ...path.map(String))),
    );
  const checked = z.unknown().check(({ value, issues }) => {
    issues.push(...faultsIn(value).map((issue) => ({ ...issue, input: undefined })));
  });
  return faultsIn(undefined).length === 0 ? z.optional(checked) : checked;
}

/** The schema of a schedule: all fields of a `snapshot` message of the source, and the timing. */
function scheduleOf(source: Source) {
  const fields = requestFields(source);
  const unparsedFields: Readonly<Record<never, never>> = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, unparsed(field)]),
  );
  return z
    .strictObject({ ...unparsedFields, as: fields.as, source: fields.source, ...timing })
    .check(({ value: { publishedWithinHours: hours, cron: at, timeZone: zone }, issues }) => {
      if (hours === undefined || at === undefined) return;
      const gap = longestGapHours(at, zone);
      if (hours > gap) return;
      const message = `more than ${gap}, the hours between two runs of its cron; with fewer, the alarm would go off each time`;
      issues.push({ code: 'custom', path: ['publishedWithinHours'], message, input: hours });
    });
}

const [firstSource, ...otherSources] = sources;
const LISTED = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(sources);

/** The schema of a schedule of any source. */
export const scheduleSchema = z.discriminatedUnion(
  'source',
  [scheduleOf(firstSource), ...otherSources.map(scheduleOf)],
  { error: `a schedule of ${LISTED}` },
);

/** A schedule as written in the configuration. */
export type ScheduleSettings = { [S in Source]: SettingsOf<ReturnType<typeof requestFields<S>>> }[Source];

type SettingsOf<Fields> = Fields extends z.core.$ZodShape
  ? z.input<z.ZodMiniObject<Fields & typeof timing, z.core.$strict>>
  : never;

/** A schedule that was checked. The fields of its source are as written. */
export type Schedule = z.infer<typeof scheduleSchema>;

/** The place where the runs of a schedule are published. */
export const placeOf = ({ source, as }: Pick<Schedule, 'source' | 'as'>) => placeOfSource(source, as);

/** The `snapshot` message of a schedule, without an id. */
export function messageOf(schedule: Schedule): Readonly<Record<string, unknown>> {
  const {
    cron: _cron,
    timeZone: _zone,
    publishedWithinHours: _hours,
    digest: _digest,
    ...request
  } = schedule;
  return { version: 1, type: 'snapshot', ...request };
}

/**
 * Whether the snapshot runs right after another one. Cards do, unless `datasets` is set: they are found through the
 * calculations, which link to datasets.
 */
export const follows = (schedule: Schedule) => linkedSource(schedule) !== undefined;

/**
 * The maximum hours between two published runs of a schedule. Undefined if it is unknown, since the cron has no two
 * runs or the snapshot follows a source without a schedule.
 */
export function publishedWithinHours(schedule: Schedule, all: readonly Schedule[]): number | undefined {
  if (schedule.publishedWithinHours !== undefined) return schedule.publishedWithinHours;
  const linked = linkedSource(schedule);
  const timed =
    linked === undefined ? schedule : all.find((each) => placeOf(each) === placeOfSource(linked, undefined));
  if (timed?.cron === undefined) return undefined;
  const hours = longestGapHours(timed.cron, timed.timeZone) + GRACE_HOURS;
  return Number.isFinite(hours) ? hours : undefined;
}

type Raw = Readonly<Record<string, unknown>>;

/** A fault that concerns several fields. It is reported at the field `path`. */
export type RuleFault = { readonly path: readonly PropertyKey[]; readonly expected: string };

type ScheduleRule = {
  readonly at: string;
  readonly expected: string;
  readonly holds: (raw: Raw) => boolean;
};

/** The rules about the cron of a source's schedule. It is required, unless the ids come from another source. */
function cronRules(source: Source): readonly ScheduleRule[] {
  const { ids } = sourceDefinitions[source];
  if (ids?.linked === undefined)
    return [
      {
        at: 'cron',
        expected: EXPECTED_CRON,
        holds: ({ source: of, cron: at }) => of !== source || at !== undefined,
      },
    ];
  const { field, linked } = ids;
  return [
    {
      at: 'cron',
      expected: `no cron: a schedule of ${source} without ${field} runs right after the ${linked.from}`,
      holds: ({ source: of, [field]: value, cron: at }) =>
        of !== source || value !== undefined || at === undefined,
    },
    {
      at: 'cron',
      expected: `a cron expression, since ${field} is set`,
      holds: ({ source: of, [field]: value, cron: at }) =>
        of !== source || value === undefined || at !== undefined,
    },
  ];
}

/** The rules about several fields of a schedule, each reported at one field. */
export const scheduleRules: readonly ScheduleRule[] = [
  ...requestRules.map(({ at, expected, holds }) => ({ at, expected: expected((field) => field), holds })),
  {
    // The name is needed for alarms and tables.
    at: 'as',
    expected: 'a name, since the schedule does not copy the whole source',
    holds: (schedule) => {
      const source = sources.find((each) => each === schedule['source']);
      // These rules report a missing name themselves.
      const isReported = NAME_RULES.some(({ holds }) => !holds(schedule));
      return (
        source === undefined ||
        schedule['as'] !== undefined ||
        isReported ||
        narrowings(source, schedule).length === 0
      );
    },
  },
  ...sources.flatMap(cronRules),
];

/** The rules of single sources that require `as`. */
const NAME_RULES = requestRules.filter(({ at }) => at === 'as');

/** Finds snapshots that would never be taken, since they follow a source that has no schedule. */
export const followFaults = (schedules: readonly Raw[]): readonly RuleFault[] =>
  schedules.flatMap((schedule, index) => {
    const source = sources.find((each) => each === schedule['source']);
    const linked = source && linkedSource({ ...schedule, source });
    if (linked === undefined || schedules.some(({ source: of, as }) => of === linked && as === undefined))
      return [];
    const expected = `a source that has its own ids and cron, or a schedule of all ${linked} for it to follow`;
    return [{ path: ['schedules', index, 'source'], expected }];
  });
