import * as z from 'zod/mini';
import { gateNames } from '../lib/contract.ts';
import { digits, filled, listOf, text, uuid, whole, yesOrNo } from './config-fields.ts';

/** EventBridge Scheduler's six fields; one of the two days must be `?`. */
const cron = text(
  'a cron of six fields, such as 0 2 * * ? *, with ? for one of the two days',
  /^[0-9*,/-]+ [0-9*,/-]+ (\? [0-9A-Z*,/-]+ [0-9A-Z*,/#L-]+|[0-9*,/LW-]+ [0-9A-Z*,/-]+ \?) [0-9*,/-]+$/,
);

const timeZone = z.string({ error: 'a time zone' }).check(
  z.refine(
    (zone) => {
      try {
        return new Intl.DateTimeFormat('en', { timeZone: zone }).format() !== '';
      } catch {
        return false;
      }
    },
    { error: 'a time zone, such as Europe/Berlin' },
  ),
);

const common = {
  /** A place of its own for a narrowed snapshot. */
  as: z.optional(text('1 to 64 letters, digits, _ or -', /^[A-Za-z0-9_-]{1,64}$/)),
  /** Reasons for which a run is refused, and with which it is published all the same. */
  accept: z.optional(
    listOf(z.enum(gateNames, { error: `one of ${gateNames.join(', ')}` }), 'a list of reasons'),
  ),
  /** An alarm tells if this many hours pass without a published run. CloudWatch looks back a week at most. */
  publishedWithinHours: z._default(whole(1, 168), 26),
} as const;

const timed = { ...common, cron, timeZone: z._default(timeZone, 'UTC') } as const;

const calculations = z.strictObject({
  ...timed,
  source: z.literal('calculations'),
  name: z.optional(filled('a part of a name')),
  filters: z.optional(listOf(filled('a filter field'), 'a list of filter fields')),
});

const files = z.strictObject({
  ...timed,
  source: z.literal('files'),
  filesets: listOf(uuid('a FileSet'), 'a list of FileSet ids'),
  directory: z.optional(z.string({ error: 'a directory' })),
  immediate: z.optional(yesOrNo),
});

const datasets = listOf(filled('the id of a dataset'), 'a list of dataset ids');

/** With datasets by a cron of their own; without, they follow the calculations that they take their datasets from. */
const cards = z.strictObject({
  ...common,
  source: z.literal('cards'),
  cron: z.optional(cron),
  timeZone: z._default(timeZone, 'UTC'),
  datasets: z.optional(datasets),
  drill: z.optional(yesOrNo),
});

const dataFiles = z.strictObject({
  ...timed,
  source: z.literal('data-files'),
  ids: listOf(digits('a data file'), 'a list of data-file ids'),
});

export const scheduleSchema = z.discriminatedUnion('source', [calculations, files, cards, dataFiles], {
  error: 'a schedule of calculations, files, cards or data-files',
});

export type Schedule = z.infer<typeof scheduleSchema>;

/** Where the runs of a schedule lie. */
export const placeOf = ({ source, as }: Pick<Schedule, 'source' | 'as'>) =>
  as === undefined ? source : `${source}.${as}`;

/** The `snapshot` message of a schedule, without an id. */
export function messageOf(schedule: Schedule): Readonly<Record<string, unknown>> {
  const { cron: _cron, timeZone: _zone, publishedWithinHours: _hours, ...message } = schedule;
  return { version: 1, type: 'snapshot', ...message };
}

/** Cards that follow the calculations they take their datasets from. */
export const follows = (schedule: Schedule) => schedule.source === 'cards' && schedule.datasets === undefined;

type Raw = Readonly<Record<string, unknown>>;

/** Rules on several fields of a schedule, on what came: each at its field. */
export const scheduleRules: readonly {
  readonly at: string;
  readonly expected: string;
  readonly holds: (raw: Raw) => boolean;
}[] = [
  {
    at: 'as',
    expected: 'a place of its own, since name or filters narrow the snapshot',
    holds: ({ source, name, filters, as }) =>
      source !== 'calculations' || (name === undefined && filters === undefined) || as !== undefined,
  },
  {
    at: 'directory',
    expected: 'a directory, since immediate is given',
    holds: ({ immediate, directory }) => immediate === undefined || directory !== undefined,
  },
  {
    at: 'cron',
    expected: 'none: cards without datasets follow the calculations',
    holds: ({ source, datasets: ids, cron: at }) =>
      source !== 'cards' || ids !== undefined || at === undefined,
  },
  {
    at: 'cron',
    expected: 'a cron, since datasets are given',
    holds: ({ source, datasets: ids, cron: at }) =>
      source !== 'cards' || ids === undefined || at !== undefined,
  },
];
