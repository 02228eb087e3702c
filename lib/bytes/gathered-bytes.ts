import { freeMemory } from './free-memory.ts';

const FIRST_BYTES = 64 * 1024;

/** Pieces gathered into one buffer, which doubles when it is full: each piece is garbage as soon as it is added. */
export type GatheredBytes = {
  readonly sizeBytes: () => number;
  readonly add: (piece: Uint8Array) => void;
  /** All pieces, in memory that holds nothing else. A view, until the next `add` or `clear`. */
  readonly bytes: () => Buffer<ArrayBuffer>;
  /** Begins anew, in the same memory. */
  readonly clear: () => void;
};

/** `expectedBytes`: how much will come, if that is known; memory is taken as it is filled. */
export function gatherBytes(expectedBytes = FIRST_BYTES): GatheredBytes {
  // Not from the pool, whose memory others share.
  let buffer = Buffer.allocUnsafeSlow(expectedBytes);
  let size = 0;
  return {
    sizeBytes: () => size,
    add(piece) {
      const end = size + piece.byteLength;
      if (end > buffer.byteLength) {
        const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * buffer.byteLength));
        buffer.copy(larger, 0, 0, size);
        freeMemory(buffer);
        buffer = larger;
      }
      buffer.set(piece, size);
      size = end;
    },
    bytes: () => buffer.subarray(0, size),
    clear() {
      size = 0;
    },
  };
}
