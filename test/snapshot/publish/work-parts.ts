import { createHash } from 'node:crypto';
import { type Frame, storeFrames } from '../../../lib/snapshot/frames/frame.ts';
import { packFrame } from '../../../lib/snapshot/frames/frame-codec.ts';
import { partName, workFolder } from '../../../lib/snapshot/keys.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';

export const run: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };

/** The folder of the run's parts under `work/`. */
export const WORK = workFolder('calculations', run);

/** A frame to be: the ids of its records, and why it ends. */
export type FrameOf = readonly [ids: readonly number[], end: Frame['end']];

/** The bytes of a frame with the records of these ids. */
export const frameOf = (ids: readonly number[]) => packFrame(Buffer.from(linesOf(ids)), 'gzip');

/** The records of these ids, a line each. */
const linesOf = (ids: readonly number[]) => ids.map((id) => `{"id":${id}}\n`).join('');

/** Stores a part under `work/` that consists of these frames. */
export async function storePart(store: Store, number: number, frames: readonly FrameOf[]): Promise<Part> {
  const bodies = await Promise.all(frames.map(([ids]) => frameOf(ids)));
  const part = await storeBody(
    store,
    number,
    Buffer.concat(bodies),
    frames.flatMap(([ids]) => ids),
  );
  await storeFrames(
    store,
    part.key,
    frames.map(([ids, end], at) => ({
      bytes: bodies[at]?.byteLength ?? 0,
      records: ids.length,
      firstKey: `${ids[0]}`,
      lastKey: `${ids.at(-1)}`,
      end,
    })),
  );
  return part;
}

async function storeBody(store: Store, number: number, body: Buffer, ids: readonly number[]): Promise<Part> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = `${WORK}${partName(number, sha256, 'gzip')}`;
  await store.put(key, body);
  const keys = { firstKey: `${ids[0]}`, lastKey: `${ids.at(-1)}` };
  return { key, bytes: body.byteLength, sha256, records: ids.length, ...keys };
}
