import { freeMemory } from './growing.ts';

const FIRST_BYTES = 64 * 1024;

/** A UTF-16 unit takes at most so many bytes in UTF-8. */
const MOST_BYTES_OF_UNIT = 3;

/** Gathers pieces in one buffer, which doubles when it is full: each piece is garbage as soon as it is added. */
export type GatheredBytes = {
  readonly sizeBytes: () => number;
  readonly add: (piece: Uint8Array) => void;
  readonly addText: (text: string) => void;
  /** All pieces, in memory that holds nothing else. A view, until the next `add` or `clear`. */
  readonly bytes: () => Buffer<ArrayBuffer>;
  /** Starts over, in the same memory. */
  readonly clear: () => void;
};

/** `expectedBytes`: how many bytes will be added, if that is known; the system takes memory only as it is filled. */
export function gatherBytes(expectedBytes = FIRST_BYTES): GatheredBytes {
  // Not from the pool, whose memory is shared with other buffers.
  let buffer = Buffer.allocUnsafeSlow(expectedBytes);
  let size = 0;

  function makeRoom(bytes: number): void {
    const end = size + bytes;
    if (end <= buffer.byteLength) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * buffer.byteLength));
    buffer.copy(larger, 0, 0, size);
    freeMemory(buffer);
    buffer = larger;
  }

  return {
    sizeBytes: () => size,
    add(piece) {
      makeRoom(piece.byteLength);
      buffer.set(piece, size);
      size += piece.byteLength;
    },
    addText(text) {
      makeRoom(MOST_BYTES_OF_UNIT * text.length);
      size += buffer.write(text, size);
    },
    bytes: () => buffer.subarray(0, size),
    clear() {
      size = 0;
    },
  };
}
