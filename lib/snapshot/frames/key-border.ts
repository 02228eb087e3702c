import { HASH_SPACE, keyHash } from '../changes/key-hash.ts';

/**
 * Where the compressed frames and the published parts of a run end: after records that their key and their own size
 * choose, so that records that do not change are in the same frames and parts from run to run, wherever a crash, a
 * time limit or a page cut the run, and whatever was added or removed elsewhere.
 */
export type Border = 'none' | 'frame' | 'part';

/** The average size of a frame, before compression. Small enough to hold some, large enough for the compressor. */
const FRAME_BYTES = 1_000_000;
/** The average number of frames in a part: about 6 MB compressed, since the most is 16 MB. */
const PART_FRAMES = 32;

/** What ends after a record whose line has this size: the larger the record, the more likely it is to end a frame. */
export function borderAfter(key: string, lineBytes: number): Border {
  const share = (keyHash(key) / HASH_SPACE) * FRAME_BYTES;
  if (share >= lineBytes) return 'none';
  return share * PART_FRAMES < lineBytes ? 'part' : 'frame';
}
