import type { Frame } from '../frames/frame.ts';
import type { Compression } from '../keys.ts';
import { createMendedFrames } from './mended-frames.ts';

/** Passes frames on byte for byte; those that a part's closing has cut are mended first. */
export function createJoinedFrames(compression: Compression, place: (bytes: Uint8Array) => void) {
  const mended = createMendedFrames(compression, place);
  /** A frame that was cut because its part was closed, until it is known whether more of it follows. */
  let cut: Uint8Array | undefined;
  let isMending = false;

  async function mend(): Promise<void> {
    await mended.end();
    isMending = false;
  }

  return {
    /** True if everything was passed on. */
    isWhole: () => cut === undefined && !isMending,
    /** Adds the next frame. Its bytes are the caller's again once this has resolved. */
    async add(bytes: Uint8Array, end: Frame['end']): Promise<void> {
      if (cut !== undefined) {
        await mended.add(cut);
        [cut, isMending] = [undefined, true];
      }
      if (!isMending && end === 'closed') cut = Uint8Array.from(bytes);
      else if (!isMending) place(bytes);
      else {
        await mended.add(bytes);
        if (end === 'frame' || end === 'part') await mend();
      }
    },
    /** Passes on what is left: nothing more of it follows. */
    async end(): Promise<void> {
      if (cut !== undefined) place(cut);
      cut = undefined;
      if (isMending) await mend();
    },
  };
}
