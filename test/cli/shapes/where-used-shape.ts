import * as z from 'zod/mini';
import { relations } from '../../../lib/model/rules/index.ts';
import { findableKinds } from '../../../lib/report/graph/used-thing.ts';
import { byName, count, id, moment, orNull, text } from './common.ts';

const kind = z.enum(Object.keys(findableKinds));

/** Null where no snapshot says it. */
const described = { name: orNull(text), type: orNull(text), owner: orNull(id) };

/** `RELATION` the thing with this id; `valid`: what the link says instead of VALID. */
const way = z.strictObject({
  kind,
  id,
  name: orNull(text),
  relation: z.enum([...relations, 'lies in']),
  valid: orNull(text),
});

const dependent = z.strictObject({
  hop: count,
  kind,
  id,
  ...described,
  ways: z.array(way),
  waysTotal: count,
});

const usedThing = z.strictObject({
  kind,
  id,
  ...described,
  inSnapshot: z.boolean(),
  links: count,
  broken: count,
  fileset: orNull(id),
  total: count,
  /** How many are 1, 2, 3 … uses away. */
  hops: z.array(count),
  kinds: byName(count),
  isCut: z.boolean(),
  dependents: z.array(dependent),
});

/** `where-used --json`: everything that has the id, and what depends on it, nearest first. */
export const whereUsed = z.strictObject({
  id,
  found: z.array(usedThing),
  searched: z.array(
    z.strictObject({
      place: text,
      run: text,
      startedAt: moment,
      records: count,
      missing: count,
      ageSeconds: count,
    }),
  ),
  unpublished: z.array(text),
  faults: z.array(text),
});
