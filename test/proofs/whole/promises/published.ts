import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { readManifest } from '../../../../lib/snapshot/manifest.ts';
import type { World } from '../world.ts';
import type { Finished } from './promises.ts';

/** `latest.json` as it was at one time. */
type Moved = {
  readonly manifest: string;
  readonly run: string;
  readonly startedAt: string;
  readonly atMs: number;
};

const LATEST = 'calculations/latest.json';

/** Records each move of `latest.json`, at the moment when it becomes visible. */
export function watchLatest(world: World) {
  const moves: Moved[] = [];
  return {
    moves,
    seen(key: string, body: string) {
      if (key !== LATEST) return;
      moves.push({ ...JSON.parse(body), atMs: world.sinceStartMs() });
      world.log('store', `latest.json names ${JSON.parse(body).run}`);
    },
  };
}

/** Clocks differ by up to a second each, and a run is timed by those of its processes. */
const SKEW_MS = 2_500;

/** A step of a snapshot waits out an outage of about an hour. */
const WAITED_OUT_MS = 30 * 60_000;

/** **No row is lost silently**: each published run holds every record that existed throughout the scan, each once. */
export async function checkPublished(ended: Finished) {
  const { plan, scene, published, broken } = ended;
  const runs = new Set(published.moves.map(({ run }) => run));
  for (const [index, moved] of published.moves.entries()) {
    const before = published.moves[index - 1];
    if (before !== undefined && before.startedAt > moved.startedAt)
      broken(`latest.json went back from ${before.run} to ${moved.run}`);
    await checkRun(moved, ended);
  }
  if (!published.moves.some(({ atMs }) => atMs >= plan.calmFromMs))
    broken('It recovers by itself: no snapshot was published after the last fault');
  const wasLong = plan.spells.some(({ fromMs, toMs }) => toMs - fromMs > WAITED_OUT_MS);
  for (const [name, how] of scene.executions.started())
    if (how?.startsWith('refused') || (how?.startsWith('stopped') && !wasLong))
      broken(`Nothing is given up for a fault: execution ${name}: ${how}`);
  return { published: runs.size, executions: scene.executions.started().size };
}

async function checkRun({ run, manifest: key }: Moved, { scene, broken }: Finished): Promise<void> {
  const lost = (what: string) => broken(`No row is lost silently: run ${run} ${what}`);
  const manifest = await readManifest(scene.store, key).catch(() => undefined);
  if (manifest === undefined) return lost(`has no manifest ${key}`);
  const lines: string[] = [];
  for (const part of manifest.parts) {
    const body = (await scene.store.get(part.key))?.body;
    if (body === undefined) return lost(`lacks ${part.key}`);
    if (createHash('sha256').update(body).digest('hex') !== part.sha256) lost(`has a damaged ${part.key}`);
    lines.push(...String(gunzipSync(body)).split('\n').slice(0, -1));
  }
  const fromMs = Date.parse(manifest.startedAt) - SKEW_MS;
  const toMs = Date.parse(manifest.finishedAt) + SKEW_MS;
  const versions = scene.platform.records.versions();
  const taken = new Map<number, number>();
  for (const line of lines) {
    const { id } = JSON.parse(line) as { readonly id: number };
    taken.set(id, (taken.get(id) ?? 0) + 1);
    const isTrue = versions.some((each) => each.line === line && each.fromMs <= toMs && each.toMs >= fromMs);
    if (!isTrue) lost(`has ${line}, which the platform did not have then`);
  }
  for (const [id, count] of taken) if (count > 1) lost(`holds record ${id} ${count} times`);
  const whole = new Map<number, { from: number; to: number }>();
  for (const { id, fromMs: from, toMs: to } of versions) {
    const known = whole.get(id);
    whole.set(id, { from: Math.min(known?.from ?? from, from), to: Math.max(known?.to ?? to, to) });
  }
  for (const [id, { from, to }] of whole)
    if (from <= fromMs && to >= toMs && !taken.has(id)) lost(`lacks record ${id}, which existed throughout`);
  if (manifest.records !== lines.length) lost(`says ${manifest.records} records, and holds ${lines.length}`);
}
