import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { each } from '../../base/index.ts';
import { canonicalJson, printJson } from '../../base/json/index.ts';
import { type Place, placeOf } from '../keys.ts';
import { gateNames } from '../scan.ts';
import { type Source, sourceDefinitions, sources } from './sources.ts';

/** The name of a place for a narrowed snapshot. */
export const placeName = z
  .string({ error: 'text' })
  .check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, { error: '1 to 64 letters, digits, _ or -' }));

const gate = z.enum(gateNames, { error: `one of ${gateNames.join(', ')}` });

/** The fields that requests of all sources have. */
export const commonFields = {
  /** The name of a separate place, for a narrowed snapshot. */
  as: z.optional(placeName),
  /** Reasons for refusal in spite of which the run is published. */
  accept: z.optional(each(gate, { error: 'a list of reasons', max: gateNames.length })),
} as const;

type Bounds = 'fields' | 'unboundedFields';

/** The fields of a request of one source, each with its schema. Lists are bounded unless `bounds` says otherwise. */
export function requestFields<S extends Source>(source: S, bounds: Bounds = 'fields') {
  const fields: (typeof sourceDefinitions)[S][Bounds] = sourceDefinitions[source][bounds];
  return { ...commonFields, source: z.literal(source), ...fields };
}

const schemaWith = <S extends Source, More extends z.core.$ZodShape>(
  source: S,
  more: More,
  bounds?: Bounds,
) => z.strictObject({ ...more, ...requestFields(source, bounds) });

/** The schema of a request of each source, with more fields of the caller. */
export const requestSchemasWith = <More extends z.core.$ZodShape>(more: More, bounds?: Bounds) =>
  Object.fromEntries(sources.map((source) => [source, schemaWith(source, more, bounds)])) as {
    readonly [S in Source]: ReturnType<typeof schemaWith<S, More>>;
  };

/** A request for a snapshot, from a message or from the command: what to take, and under which place to publish it. */
export type SnapshotRequest = {
  readonly [S in Source]: z.infer<ReturnType<typeof schemaWith<S, Record<never, never>>>>;
}[Source];

/**
 * The rules of all sources that concern several fields of a request. A rule always holds for requests of other sources.
 */
export const requestRules = sources.flatMap((source) =>
  sourceDefinitions[source].rules.map((rule) => ({
    ...rule,
    holds: (request: Readonly<Record<string, unknown>>) =>
      request['source'] !== source || rule.holds(request),
  })),
);

/** Separates a request into its selection and the ids that are read one by one. */
export function selectionOf({ source, ...request }: SnapshotRequest) {
  const { fields, ids } = sourceDefinitions[source];
  const values: Readonly<Record<string, unknown>> = request;
  const names = Object.keys(fields).filter((name) => name !== ids?.field && values[name] !== undefined);
  return {
    selection: Object.fromEntries(names.map((name) => [name, values[name]])),
    ids: ids && z.optional(z.array(z.string())).parse(values[ids.field]),
  };
}

/** The options that narrow a request, as they were requested; empty if it takes all records. */
export const narrowings = (source: Source, request: Readonly<Record<string, unknown>>): readonly unknown[] =>
  sourceDefinitions[source].narrowedBy(request).filter((each) => each !== undefined);

const MAX_WORDS_LENGTH = 40;

/** The place of a request's runs. If a narrowed request has no name, its place is named after its selection. */
export function placeOfRequest(request: SnapshotRequest): Place {
  const { source, as } = request;
  const narrowedBy = narrowings(source, request);
  if (as !== undefined || narrowedBy.length === 0) return placeOf(source, as);
  const { selection, ids = [] } = selectionOf(request);
  const digest = hash('sha256', canonicalJson({ ...selection, ids: [...new Set(ids)].sort() })).slice(0, 8);
  const sorted = narrowedBy.map((each) => (Array.isArray(each) ? [...new Set(each)].sort() : each));
  const words = printJson(sorted)
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .slice(0, MAX_WORDS_LENGTH);
  return placeOf(source, `${words.replaceAll(/^-|-$/g, '') || 'narrowed'}-${digest}`);
}

/** The source whose published runs provide a request's ids; undefined if the request needs no ids or lists them. */
export function linkedSource(
  options: Readonly<Record<string, unknown>> & { readonly source: Source },
): Source | undefined {
  const { source, ...fields } = options;
  const { ids } = sourceDefinitions[source];
  if (ids?.linked === undefined || fields[ids.field] !== undefined) return undefined;
  return ids.linked.from;
}

/**
 * The source whose links provide the ids of a run with this selection; undefined if the request listed the ids, or the
 * source is not read id by id.
 */
export function linkedTo(source: Source, selection: Readonly<Record<string, unknown>>): Source | undefined {
  const { ids } = sourceDefinitions[source];
  return ids?.linked !== undefined && selection[ids.field] === ids.linked.from ? ids.linked.from : undefined;
}
