import * as z from 'zod/mini';
import { filledText, uuid } from '../../../json/inputs.ts';
import { idSchema } from '../../../platform/id.ts';
import { gateNames } from '../../../snapshot/gate-names.ts';
import { sources } from '../../../snapshot/keys.ts';
import type { Selections } from '../../../snapshot/selection.ts';
import { common, each, type FieldRule, yesOrNo } from '../../message/fields.ts';
import { expandNames } from '../data-files/message.ts';

const gate = z.enum(gateNames, { error: `one of ${gateNames.join(', ')}` });

/** The fields of a snapshot of any source. */
const snapshot = {
  ...common,
  type: z.literal('snapshot'),
  /** A place of its own for a narrowed snapshot. */
  as: z.optional(
    z
      .string({ error: 'text' })
      .check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, { error: '1 to 64 letters, digits, _ or -' })),
  ),
  /** Reasons for which a run is refused, and with which it is published all the same. */
  accept: z.optional(each(gate, { error: 'a list of reasons', most: gateNames.length })),
} as const;

const calculations = z.strictObject({
  ...snapshot,
  source: z.literal('calculations'),
  name: z.optional(z.string({ error: 'text' })),
  filters: z.optional(each(filledText, { error: 'a list of filter fields', most: 100 })),
});

/** ISO 8601; a time needs its zone, or it would be another one on each machine. */
const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** False for days that `Date.parse` takes for one of the next month, such as February 30. */
function isDate(text: string): boolean {
  const day = DATE.exec(text)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(text)) || Number.isNaN(Date.parse(day))) return false;
  return new Date(day).toISOString().startsWith(day);
}

/** A date (its start in UTC) or a date and time with a zone; goes out as ISO 8601 text in UTC. */
const date = z.pipe(
  z
    .string({ error: 'a date' })
    .check(z.refine(isDate, { error: 'a date such as 2026-11-21 or 2026-11-21T09:15:00Z' })),
  z.transform((text: string) => new Date(text).toISOString()),
);

const upperCase = z.pipe(
  filledText,
  z.transform((text: string) => text.toUpperCase()),
);

const where = z.strictObject(
  {
    field: filledText,
    operator: upperCase,
    value: z.array(z.string({ error: 'text' }), { error: 'a list of texts' }),
    not: z.optional(yesOrNo),
  },
  { error: 'an object of field, operator and value' },
);

/** In lower case, each once and in order: what is the same selection is told the same. */
const filesets = z.pipe(
  each(uuid, { error: 'a list of FileSet ids', most: 1_000 }),
  z.transform((ids: string[]) => [...new Set(ids.map((id) => id.toLowerCase()))].sort()),
);

const files = z.strictObject({
  ...snapshot,
  source: z.literal('files'),
  filesets,
  directory: z.optional(z.string({ error: 'text' })),
  immediate: z.optional(yesOrNo),
  where: z.optional(z.array(where, { error: 'a list of filters' })),
  since: z.optional(date),
  until: z.optional(date),
});

const cards = z.strictObject({
  ...snapshot,
  source: z.literal('cards'),
  /** Without them the datasets that the last published calculations link to. */
  datasets: z.optional(each(filledText, { error: 'a list of dataset ids', most: 10_000 })),
  /** Whether cards count that use a dataset only in a drill. Default true. */
  drill: z._default(yesOrNo, true),
});

const dataFiles = z.strictObject({
  ...snapshot,
  source: z.literal('data-files'),
  ids: each(idSchema, { error: 'a list of data-file ids', most: 10_000 }),
});

export const snapshotMessages = {
  calculations,
  files,
  cards,
  'data-files': dataFiles,
} as const satisfies Record<(typeof sources)[number], unknown>;

export const snapshotRules: readonly FieldRule[] = [
  {
    at: 'as',
    expected: 'a place of its own, since name or filters narrow the snapshot',
    holds: ({ source, name, filters, as }) =>
      source !== 'calculations' || (name === undefined && filters === undefined) || as !== undefined,
  },
  {
    at: 'directory',
    expected: 'a directory, since immediate is given',
    holds: ({ directory, immediate }) => immediate === undefined || directory !== undefined,
  },
];

/** A snapshot whose source is not known: what can be checked all the same. */
export const snapshotOfNoSource = z.looseObject({
  ...snapshot,
  source: z.enum(sources, { error: `one of ${sources.join(', ')}` }),
});

/** A `snapshot` message as it was checked. */
export type SnapshotMessage = z.infer<(typeof snapshotMessages)[keyof typeof snapshotMessages]>;

/** What a run is begun with: `ids` for sources that are read id by id, which its selection then tells. */
export type SnapshotRequest =
  | { readonly source: 'calculations'; readonly selection: Selections['calculations'] }
  | { readonly source: 'files'; readonly selection: Selections['files'] }
  | {
      readonly source: 'cards';
      readonly selection: { readonly drill: boolean };
      readonly ids: readonly string[] | 'calculations';
    }
  | {
      readonly source: 'data-files';
      readonly selection: { readonly expand: readonly string[] };
      readonly ids: readonly string[];
    };

/** What the snapshot of a message asks for, as the `snapshot` command asks for it. */
export function snapshotRequestOf(message: SnapshotMessage): SnapshotRequest {
  switch (message.source) {
    case 'calculations':
    case 'files':
      return { source: message.source, selection: selectionOf(message) } as SnapshotRequest;
    case 'cards':
      return {
        source: message.source,
        selection: { drill: message.drill },
        ids: message.datasets ?? 'calculations',
      };
    case 'data-files':
      return { source: message.source, selection: { expand: [...expandNames] }, ids: message.ids };
    default:
      return message satisfies never;
  }
}

const selectionOf = ({ version, type, id, source, as, accept, ...selection }: SnapshotMessage) => selection;
