import { createHash } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { KEPT } from '../people.ts';
import { pageRows } from '../plan.ts';
import { cardsOf } from '../records.ts';
import type { World } from '../world.ts';
import type { Finished } from './promises.ts';

/** The content of a source's `latest.json` after one of its changes. */
export type Moved = {
  readonly source: string;
  readonly manifest: string;
  readonly run: string;
  readonly startedAt: string;
  readonly atMs: number;
  /** When the first object of the run was stored, by the world's clock, not that of its process. */
  readonly begunMs: number;
};

/** Records and reports each move of a `latest.json` at the moment it becomes visible. */
export function watchLatest(world: World, onMoved: (moved: Moved) => void) {
  const moves: Moved[] = [];
  const begun = new Map<string, number>();
  return {
    moves,
    seen(key: string, body: string) {
      const [run] = /\d{8}T\d{6}Z-[0-9a-f]{6}/.exec(key) ?? [];
      if (run !== undefined && !begun.has(run)) begun.set(run, world.sinceStartMs());
      const [, source] = /^(\w+)\/latest\.json$/.exec(key) ?? [];
      if (source === undefined) return;
      const latest = JSON.parse(body);
      const begunMs = begun.get(latest.run) ?? 0;
      const moved: Moved = { ...latest, source, begunMs, atMs: world.sinceStartMs() };
      // A prune rewrites it unchanged, which is not a move.
      if (moves.findLast((each) => each.source === source)?.run === moved.run) return;
      moves.push(moved);
      world.log('store', `${key} names ${moved.run}`);
      onMoved(moved);
    },
  };
}

/** How far a clock may be off, in milliseconds. */
const CLOCK_OFF_MS = 1_000;

/** Tolerance for comparing times of runs, which come from the clocks of their processes. */
const SKEW_MS = 2_500;

/** A snapshot must survive an outage of up to this length. A step waits out about an hour. */
const WAITED_OUT_MS = 30 * 60_000;

/** How long a prune may take to list the published runs. */
const LISTED_MS = 10 * 60_000;

/** **No row is lost silently**: each published run holds every record that existed throughout the scan, each once. */
export async function checkPublished(ended: Finished) {
  const { plan, scene, sent, published, read, broken } = ended;
  let [pruned, mostRecords] = [0, 0];
  const startMs = scene.world.now() - scene.world.sinceStartMs();
  /** True if `before` started earlier. A run that began after another was published is the later one, whatever the clocks. */
  const isEarlier = ({ startedAt }: Moved, before: Moved) =>
    before.startedAt > startedAt && Date.parse(startedAt) + CLOCK_OFF_MS < startMs + before.atMs;
  /** If clocks were set, two runs that overlapped have no order, unless another run was published between them. */
  const isOlder = ({ begunMs }: Moved, before: Moved, moves: readonly Moved[]) =>
    moves.some(({ atMs }) => atMs > begunMs && atMs < before.begunMs);
  for (const source of plan.datasets > 0 ? ['calculations', 'cards'] : ['calculations']) {
    const moves = published.moves.filter((each) => each.source === source);
    for (const [index, moved] of moves.entries()) {
      const before = moves[index - 1];
      if (
        before !== undefined &&
        (plan.clockPercent > 0 ? isOlder(moved, before, moves) : isEarlier(moved, before))
      )
        broken(`${source}/latest.json went back from ${before.run} to ${moved.run}`);
      const isGone = (await scene.store.get(moved.manifest)) === undefined;
      // The published run is always kept, and counts as one of the kept runs.
      const newer = (ms: number) => {
        const there = moves.filter(({ atMs }) => atMs <= ms + LISTED_MS).map(({ run }) => run);
        return new Set(there.filter((run) => run > moved.run || run === there.at(-1))).size;
      };
      const isListed = read.listed.some(({ run }) => run === moved.run);
      const mayBeGone = source === 'calculations' && sent.prunedAtMs.some((ms) => newer(ms) >= KEPT);
      if (!isListed && !mayBeGone)
        broken(`One truth: run ${moved.run} of ${source} is published, and not listed`);
      if (isGone && mayBeGone) pruned += 1;
      else if (isGone)
        broken(
          `Nothing is lost by a guess: run ${moved.run} of ${source} is gone, and no prune was to delete it`,
        );
      else {
        const records = (await checkRun(moved, ended)) ?? 0;
        if (source === 'calculations') mostRecords = Math.max(mostRecords, records);
      }
    }
    if (plan.snapshotsAtMs.length > 0 && !moves.some(({ atMs }) => atMs >= plan.calmFromMs))
      broken(`It recovers by itself: no snapshot of ${source} was published after the last fault`);
  }
  const wasLong = plan.spells.some(({ fromMs, toMs }) => toMs - fromMs > WAITED_OUT_MS);
  // A prune may delete a superseded run before its execution ends.
  const wasPruned = (how: string) => {
    const [, run = ''] = /run (\S+) of calculations .* has no checkpoint$/.exec(how) ?? [];
    const later = ended.published.moves.find(
      ({ source, ...each }) => source === 'calculations' && each.run > run,
    );
    return run !== '' && later !== undefined && sent.prunedAtMs.some((ms) => later.atMs <= ms + LISTED_MS);
  };
  // A scan during many changes finds more records than exist at any one time, so the next scan may seem to have half as
  // many, which a gate refuses.
  const isHalved = scene.platform.records.count() < mostRecords / 2;
  for (const [name, how] of scene.executions.started())
    if (
      (how?.startsWith('refused') && !isHalved) ||
      (how?.startsWith('stopped') && !wasLong && !wasPruned(how))
    )
      broken(`Nothing is given up for a fault: execution ${name}: ${how}`);
  checkProgress(ended);
  const runs = new Set(published.moves.map(({ run }) => run));
  return { published: runs.size, pruned, executions: scene.executions.started().size };
}

/** Number of pages that may be in flight when an invocation dies. */
const PAGES_UNDER_WAY = 3;

/** **A crash costs seconds**: after any interruption a scan resumes from its last part, and rereads at most one slice. */
function checkProgress({ plan, scene, broken }: Finished): void {
  const most = pageRows(plan) * (Math.ceil((plan.sliceMs / 1_000) * plan.rate) + PAGES_UNDER_WAY);
  for (const [name, offsets] of scene.executions.read) {
    let highest = 0;
    for (const offset of offsets) {
      if (highest - offset > most)
        broken(
          `A crash costs seconds: execution ${name} was at record ${highest}, and read from ${offset} again`,
        );
      highest = Math.max(highest, offset);
    }
  }
}

/** The checked members of a manifest. */
type Manifest = {
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly records: number;
  readonly parts: readonly { readonly key: string; readonly sha256: string }[];
};

/** Checks a run that was published, by its objects and against the platform's records. Returns its number of records. */
export async function checkRun(
  moved: Moved,
  { scene, broken }: Pick<Finished, 'scene' | 'broken'>,
): Promise<number | undefined> {
  const { source, run, manifest: key } = moved;
  const lost = (what: string) => void broken(`No row is lost silently: run ${run} of ${source} ${what}`);
  const stored = await scene.store.get(key);
  if (stored === undefined) return lost(`has no manifest ${key}`);
  const manifest: Manifest = JSON.parse(String(stored.body));
  const lines: string[] = [];
  for (const part of manifest.parts) {
    const body = (await scene.store.get(part.key))?.body;
    if (body === undefined) return lost(`lacks ${part.key}`);
    if (createHash('sha256').update(body).digest('hex') !== part.sha256) lost(`has a damaged ${part.key}`);
    const plain = part.key.endsWith('.zst') ? zstdDecompressSync(body) : gunzipSync(body);
    lines.push(...String(plain).split('\n').slice(0, -1));
  }
  if (manifest.records !== lines.length) lost(`says ${manifest.records} records, and holds ${lines.length}`);
  if (source === 'calculations') checkCalculations(lines, { ...manifest, ...moved }, { scene, lost });
  else checkCards(lines, { scene, lost });
  return lines.length;
}

type Checking = { readonly scene: Finished['scene']; readonly lost: (what: string) => void };

/** Checks that the cards of all datasets are there, each once, since each dataset has calculations at any time. */
function checkCards(lines: readonly string[], { scene, lost }: Checking): void {
  const { datasets } = scene.world.plan;
  const expected = Array.from({ length: datasets }, (_, dataset) => cardsOf(String(dataset))).flat();
  // The id of an odd card is in another member.
  const idOf = (line: string) => {
    const { id, kpiId, urn } = JSON.parse(line);
    return String(id ?? kpiId ?? urn);
  };
  const [ids, all] = [lines.map(idOf), expected.map(({ urn }) => urn)];
  if (ids.toSorted().join() !== all.toSorted().join()) lost(`holds the cards ${ids}, not ${all}`);
}

function checkCalculations(
  lines: readonly string[],
  { startedAt, finishedAt, begunMs, atMs }: Manifest & Moved,
  { scene, lost }: Checking,
) {
  const { clockPercent } = scene.world.plan;
  const startMs = scene.world.now() - scene.world.sinceStartMs();
  const fromMs = clockPercent > 0 ? startMs + begunMs - SKEW_MS : Date.parse(startedAt) - SKEW_MS;
  const toMs = clockPercent > 0 ? startMs + atMs : Date.parse(finishedAt) + SKEW_MS;
  const { versionsOf } = scene.platform.records;
  const counts = new Map<number, number>();
  for (const line of lines) {
    const id = Number(JSON.parse(line).id);
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const isTrue = (versionsOf.get(id) ?? []).some(
      (each) => each.line === line && each.fromMs <= toMs && each.toMs >= fromMs,
    );
    if (!isTrue) lost(`has ${line}, which the platform did not have then`);
  }
  for (const [id, count] of counts) if (count > 1) lost(`holds record ${id} ${count} times`);
  for (const [id, versions] of versionsOf) {
    const isThere = (versions[0]?.fromMs ?? 0) <= fromMs && (versions.at(-1)?.toMs ?? 0) >= toMs;
    if (isThere && !counts.has(id)) lost(`lacks record ${id}, which existed throughout`);
  }
}
