import type { Frame } from '../frames/frame.ts';
import type { Compression } from '../keys.ts';
import { createMendedFrames } from './mended-frames.ts';

/** Passes frames on byte for byte; those that a part's closing has cut are mended first. */
export function createJoinedFrames(compression: Compression, place: (bytes: Uint8Array) => void) {
  const mended = createMendedFrames(compression, place);
  /** A frame that was cut because its part was closed, until it is known whether more of it follows. */
  let cut: { readonly bytes: Uint8Array; readonly partKey: string } | undefined;
  let isMending = false;

  async function mend(): Promise<void> {
    await mended.end();
    isMending = false;
  }

  return {
    /** True if everything was passed on. */
    isWhole: () => cut === undefined && !isMending,
    /** Adds the next frame, of the part `partKey`. Its bytes are the caller's again once this has resolved. */
    async add(bytes: Uint8Array, end: Frame['end'], partKey: string): Promise<void> {
      if (cut !== undefined) {
        await mended.add(cut.bytes, cut.partKey);
        [cut, isMending] = [undefined, true];
      }
      if (!isMending && end === 'closed') cut = { bytes: Uint8Array.from(bytes), partKey };
      else if (!isMending) place(bytes);
      else {
        await mended.add(bytes, partKey);
        if (end === 'frame' || end === 'part') await mend();
      }
    },
    /** Passes on what is left: nothing more of it follows. */
    async end(): Promise<void> {
      if (cut !== undefined) place(cut.bytes);
      cut = undefined;
      if (isMending) await mend();
    },
  };
}
