import * as z from 'zod/mini';
import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import {
  CACHE_PREFIX,
  type CacheRow,
  parseCacheRow,
  textHashOf,
} from '../../../lib/jobs/texts/cache/cache-row.ts';
import { type Ended, hasSoundWorkers, readResult } from './ended.ts';
import type { Scene } from './workers.ts';

/** A text is paid for once, and again only if a response was lost; the cache knows of every payment. */
export async function checkScores(ended: Ended): Promise<void> {
  const { plan, scene, broken } = ended;
  const { scored, unproved } = scene.platform;
  const rows = await cacheRows(scene);
  let paidAgain = 0;
  for (const text of new Set(scored.map(({ subject }) => subject))) {
    const calls = scored.filter(({ subject }) => subject === text);
    // A process that had trouble may have lost its lease on the text, or failed to store the result.
    const lost = calls.filter(({ isDelivered, process }) => !isDelivered || process.troubles > 0);
    const excused = plan.troubles.includes('clock') ? calls.length : lost.length;
    if (calls.length > 1 + excused)
      broken(`${text} was scored ${calls.length} times, and ${lost.length} responses were lost`);
    const row = rows.get(textHashOf(text));
    if (row?.state !== 'SCORED') continue;
    paidAgain += row.paidAgain;
    if (row.sends < calls.length)
      broken(`${text} was scored ${calls.length} times, and the cache counted ${row.sends}`);
    const possible = unproved.filter((subject) => subject === text).length;
    if (hasSoundWorkers(plan) && row.sends !== possible)
      broken(`${text} may have been scored ${possible} times, and the cache counted ${row.sends}`);
  }
  const reported = await reportedPaidAgain(scene);
  // A job that started over finds what it paid for before, and does not report it.
  const isExact = await wereClaimedOnce(scene);
  if (hasSoundWorkers(plan) && (isExact ? reported !== paidAgain : reported > paidAgain))
    broken(`the results report ${reported} calls paid again, the cache ${paidAgain}`);
}

async function wereClaimedOnce({ table }: Scene): Promise<boolean> {
  const jobs = await Array.fromAsync(createLedger({ table }).list());
  return jobs.every(({ type, fence }) => type !== 'score' || fence === 1);
}

async function cacheRows({ table }: Scene): Promise<ReadonlyMap<string, CacheRow>> {
  const stored = await Array.fromAsync(table.scan(CACHE_PREFIX));
  return new Map(stored.map(parseCacheRow).map((row) => [row.textHash, row]));
}

const scoresSchema = z.object({ results: z.array(z.object({ paidAgain: z.number() })) });

async function reportedPaidAgain(scene: Scene): Promise<number> {
  let paidAgain = 0;
  for await (const { key } of scene.store.list('results/score/')) {
    const { response } = await readResult(key, scene);
    const { data } = scoresSchema.safeParse(response);
    for (const each of data?.results ?? []) paidAgain += each.paidAgain;
  }
  return paidAgain;
}
