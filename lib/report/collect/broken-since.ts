import { parseJson } from '../../base/json/index.ts';
import { canonicalId, eachUse, flagBits, isBroken, isInvalid } from '../../model/rules/index.ts';
import type { Change } from '../../snapshot/changes/side-by-side.ts';
import { storedChanges } from '../../snapshot/changes/stored-changes.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { runOfId } from '../../snapshot/run-id.ts';
import { unlessDamaged } from '../../store/index.ts';
import type { BrokenSince, ReportFacts } from '../facts.ts';
import { membersOf, type Reading } from './values.ts';

type SinceToRead = Reading & {
  /** Of the published runs of all calculations, newest first. */
  readonly manifests: readonly Manifest[];
  /** Those of the newest. */
  readonly calculations: ReportFacts['calculations'];
};

/** What a calculation's own record says. */
const BROKEN = flagBits.broken_links | flagBits.invalid;

/** The most changes that are looked through: about a second. */
const MAX_CHANGES = 50_000;

/**
 * The run in which each calculation became broken: the newest that added it, or changed it from one that was sound. Goes
 * back from run to run, as far as what changed from one to the next is stored.
 */
export async function readBrokenSince(options: SinceToRead): Promise<BrokenSince> {
  const { store, manifests, calculations, addFault, signal } = options;
  const { id: ids = [], flags = [] } = calculations?.list.columns ?? {};
  const broken = ids.filter((_, row) => ((flags[row] ?? 0) & BROKEN) !== 0);
  const since = new Map<string, number | null>(broken.map((id) => [id, null]));
  const left = new Set(broken);
  let [run, beforeMs, read] = [manifests[0], startOf(manifests[0]?.run), 0];
  try {
    while (run !== undefined && left.size > 0) {
      const changes = await storedChanges({ store, changes: run.changes, signal });
      if (changes === undefined) break;
      for await (const change of changes) {
        read += 1;
        if (read > MAX_CHANGES) return { beforeMs, since: [...since] };
        const id = canonicalId(change.key) ?? '';
        if (!left.has(id) || !becameBroken(change)) continue;
        since.set(id, startOf(run.run));
        left.delete(id);
      }
      const against = run.changes?.against;
      beforeMs = startOf(against);
      run = manifests.find((each) => each.run === against);
    }
  } catch (error) {
    unlessDamaged((fault) => addFault(`since when calculations are broken: ${fault}`))(error);
  }
  return { beforeMs, since: [...since] };
}

const startOf = (run = ''): number => Date.parse(runOfId(run).startedAt) || 0;

/** True if a record that is broken after a change was not before it. */
function becameBroken(change: Change): boolean {
  if (change.change !== 'changed') return change.change === 'added';
  if (!change.fields.includes('links') && !change.fields.includes('status')) return false;
  const before = parseJson(change.before);
  let wasBroken = isInvalid(membersOf(before)['status']);
  eachUse('calculations', before, ({ validity }) => {
    wasBroken ||= isBroken(validity);
  });
  return !wasBroken;
}
