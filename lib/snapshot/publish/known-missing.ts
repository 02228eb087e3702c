import { type Place, sourceOf } from '../keys.ts';
import type { Manifest } from '../manifest.ts';
import type { MissingId } from '../scan.ts';
import { linkedTo } from '../sources/request.ts';

/** An id that a run could not read, and the start of the first of the runs since which it is missing with this status. */
export type KnownMissing = Manifest['missing'][number];

type Found = { readonly missing: readonly MissingId[]; readonly startedAt: string };

/** The missing ids of a run, each since when. `last`: the run that is published now. */
export function missingSince(
  { missing, startedAt }: Found,
  last: Pick<Manifest, 'missing'> | undefined,
): KnownMissing[] {
  const before = new Map(last?.missing.map((each) => [each.id, each]));
  return missing.map(({ id, status }) => {
    const known = before.get(id);
    return { id, status, since: known?.status === status ? known.since : startedAt };
  });
}

/**
 * The missing ids that are news: those that the last published run could read, or was answered otherwise for. In a first
 * run those that a person named are news; those that only another source links to are not.
 */
export function newlyMissing(manifest: Manifest): readonly KnownMissing[] {
  const { source, selection, missing, startedAt, begunAfter } = manifest;
  if (!begunAfter && linkedTo(sourceOf(source as Place), selection) !== undefined) return [];
  return missing.filter(({ since }) => since === startedAt);
}
