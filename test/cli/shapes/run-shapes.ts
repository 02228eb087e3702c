import * as z from 'zod/mini';
import { manifestSchema } from '../../../lib/snapshot/manifest.ts';
import { byName, count, moment, orNull, text } from './common.ts';

/** A run, by its place (`source`) and name, as all commands on runs say it. */
const run = { source: text, run: text };

const outcomes = ['published', 'refused', 'superseded'] as const;

/** `snapshot --json` and `publish --json`: the manifest, and what happened to the run. */
export const publication = z.strictObject({
  ...manifestSchema.shape,
  selection: byName(z.unknown()),
  fields: byName(z.array(text)),
  published: z.boolean(),
  outcome: z.enum(outcomes),
  supersededBy: z.optional(text),
  store: text,
  manifest: text,
});

const states = ['published', 'unfinished', 'refused', 'superseded', 'damaged'] as const;

export const runs = z.array(
  z.strictObject({
    ...run,
    state: z.enum(states),
    startedAt: moment,
    finishedAt: orNull(moment),
    durationMs: orNull(count),
    records: orNull(count),
    against: orNull(text),
    added: orNull(count),
    removed: orNull(count),
    changed: orNull(count),
    consistency: orNull(text),
    forced: z.boolean(),
    refused: z.array(text),
    fault: orNull(text),
  }),
);

/** The records in `before` and `after` are as the platform sent them, their ids too; `key` is text. */
const change = z.strictObject({
  change: z.enum(['added', 'removed', 'changed']),
  key: text,
  fields: z.optional(z.array(text)),
  before: z.optional(byName(z.unknown())),
  after: z.optional(byName(z.unknown())),
});

const difference = z.strictObject({
  source: text,
  old: orNull(text),
  new: text,
  added: orNull(count),
  removed: orNull(count),
  changed: orNull(count),
  changes: z.array(change),
});

/** An object, or a list of objects if no source is given. */
export const diff = z.union([difference, z.array(difference)]);

export const prune = z.strictObject({
  dryRun: z.boolean(),
  runs: z.array(
    z.strictObject({
      ...run,
      startedAt: moment,
      state: z.enum([...states, 'half-pruned', 'left']),
      objects: count,
      bytes: count,
    }),
  ),
  kept: z.array(z.strictObject({ ...run, reason: text })),
  objects: count,
  bytes: count,
});

const named = { group: text, name: text };

export const tables = z.array(
  z.union([
    z.strictObject({ ...named, kind: z.literal('made'), files: count, records: count, other: count }),
    z.strictObject({ ...named, kind: z.literal('left') }),
    z.strictObject({ ...named, kind: z.literal('skipped'), why: text }),
  ]),
);
