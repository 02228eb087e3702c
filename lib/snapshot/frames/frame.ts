import * as z from 'zod/mini';
import { printBounded, readStored, type Store } from '../../store/index.ts';

const whole = z.number().check(z.int(), z.nonnegative());

const frameSchema = z.object({
  /** Compressed. */
  bytes: whole,
  records: whole,
  firstKey: z.string(),
  lastKey: z.string(),
  /** Why it ends: its last record's key, its size, or only because its part was closed. */
  end: z.enum(['frame', 'part', 'size', 'closed']),
});

/** One gzip member or zstd frame of a part. */
export type Frame = z.infer<typeof frameSchema>;

const framesSchema = z.object({ frames: z.array(frameSchema) });

const framesKey = (partKey: string) => `${partKey}.frames.json`;

/** Stores the frames of a part under `work/`, next to it. */
export async function storeFrames(store: Store, partKey: string, frames: readonly Frame[]): Promise<void> {
  const key = framesKey(partKey);
  await store.put(key, printBounded(key, { frames }));
}

/** The frames of a part under `work/`, in order. Throws `StoredObjectError`. */
export async function readFrames(store: Store, partKey: string): Promise<readonly Frame[]> {
  const expected = { what: 'the frames of a part', schema: framesSchema };
  return (await readStored(store, framesKey(partKey), expected)).value.frames;
}
