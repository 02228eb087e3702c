/** A list of numbers that grows by a third whenever its memory is full. */
type Growing<T> = {
  length(): number;
  push(value: number): void;
  at(index: number): number;
  set(index: number, value: number): void;
  /** All numbers so far, as a view that must not be used after a later `push`. */
  values(): T;
  free(): void;
};

type NumbersConstructor<T> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer): T;
};

const FIRST_ROOM = 1_024;
const GROWTH = 4 / 3;

/** Creates a list of numbers in a typed array, such as `growing(Uint32Array)`. */
export function growing<
  T extends
    | Uint8Array<ArrayBuffer>
    | Uint16Array<ArrayBuffer>
    | Uint32Array<ArrayBuffer>
    | Float64Array<ArrayBuffer>,
>(Numbers: NumbersConstructor<T>): Growing<T> {
  let values = new Numbers(new ArrayBuffer(FIRST_ROOM * Numbers.BYTES_PER_ELEMENT));
  let length = 0;
  return {
    length: () => length,
    push(value) {
      if (length === values.length) {
        // `transfer` frees the old memory immediately; the garbage collector would free it late.
        const room = Math.ceil(length * GROWTH);
        values = new Numbers(values.buffer.transfer(room * Numbers.BYTES_PER_ELEMENT));
      }
      values[length] = value;
      length += 1;
    },
    at: (index) => values[index] ?? 0,
    set(index, value) {
      values[index] = value;
    },
    values: () => values.subarray(0, length) as T,
    free() {
      freeMemory(values);
      length = 0;
    },
  };
}

/** Buffers with fewer bytes are not worth freeing, and may be in the pool that Node's small buffers share. */
const MIN_BYTES = 96 * 1024;

/**
 * Frees a buffer immediately: the garbage collector would let many pages of 5 MB pile up. No other buffer may share
 * its memory.
 */
export function freeMemory({ buffer }: Pick<Uint8Array | Float64Array, 'buffer'>): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= MIN_BYTES) buffer.transfer(0);
}

const FIRST_BYTES = 64 * 1024;

/** Maximum bytes of UTF-8 for a UTF-16 unit. */
const MAX_BYTES_OF_UNIT = 3;

/**
 * Gathers pieces of bytes in one buffer, which doubles when it is full. Each piece can be garbage-collected as soon
 * as it has been added.
 */
type GatheredBytes = {
  readonly sizeBytes: () => number;
  readonly add: (piece: Uint8Array) => void;
  readonly addText: (text: string) => void;
  /** All bytes so far, as a view that is valid until the next `add` or `clear`. */
  readonly bytes: () => Buffer<ArrayBuffer>;
  /** Starts over, in the same memory. */
  readonly clear: () => void;
};

/**
 * Creates such a buffer. `expectedBytes`: the number of bytes to come, if it is known. The operating system
 * provides the memory only as the buffer is filled.
 */
export function gatherBytes(expectedBytes = FIRST_BYTES): GatheredBytes {
  // The memory must not be from Node's pool, where other buffers share it.
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
      makeRoom(MAX_BYTES_OF_UNIT * text.length);
      size += buffer.write(text, size);
    },
    bytes: () => buffer.subarray(0, size),
    clear() {
      size = 0;
    },
  };
}

/** The bytes of address space to reserve: more than any part has. Memory is used only for bytes that were added. */
const MAX_IN_PLACE = 2 ** 31;

/**
 * Gathers bytes in memory that grows in place, and that `clear` returns to the system: large buffers of changing sizes
 * would leave holes in the heap. It is meant for bytes that are only copied, since JavaScript reads them slowly.
 */
export function gatherInPlace(): Pick<GatheredBytes, 'add' | 'bytes' | 'clear'> {
  const memory = new ArrayBuffer(0, { maxByteLength: MAX_IN_PLACE });
  const all = new Uint8Array(memory);
  return {
    add(piece) {
      const size = memory.byteLength;
      memory.resize(size + piece.byteLength);
      all.set(piece, size);
    },
    bytes: () => Buffer.from(memory),
    clear: () => memory.resize(0),
  };
}
