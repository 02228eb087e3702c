/** How a frame starts, and how one starts that decoders skip (its last four bits are free). */
const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;

type Awaited = 'magic' | 'descriptor' | 'block' | 'skippable';
const LENGTHS = { magic: 4, descriptor: 1, block: 3, skippable: 4 } as const satisfies Record<
  Awaited,
  number
>;

/** Divides bytes where zstd frames end (RFC 8878, section 3.1): Node's decompressor drops what follows one in a write. */
export async function* splitZstdFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = followFrames();
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.byteLength; ) {
      const { next, ends } = frames.read(chunk, at);
      at = next;
      if (!ends) continue;
      yield chunk.subarray(from, at);
      from = at;
    }
    if (from < chunk.byteLength) yield chunk.subarray(from);
  }
}

function followFrames() {
  const head = Buffer.alloc(4);
  let [awaited, collected, skip]: [Awaited, number, number] = ['magic', 0, 0];
  let [hasChecksum, isLast, isUnknown] = [false, false, false];

  function expect(next: Awaited, skipFirst = 0): void {
    [awaited, collected, skip] = [next, 0, skipFirst];
  }

  const understand = {
    magic(): void {
      const magic = head.readUInt32LE();
      isUnknown = magic !== MAGIC && (magic & 0xfffffff0) >>> 0 !== SKIPPABLE;
      expect(magic === MAGIC ? 'descriptor' : 'skippable');
    },
    descriptor(): void {
      const descriptor = head.readUInt8();
      hasChecksum = (descriptor & 4) !== 0;
      expect('block', headerRest(descriptor));
    },
    block(): void {
      const block = head.readUIntLE(0, 3);
      isLast = (block & 1) !== 0;
      // A block of one repeated byte (type 1) has only that byte.
      const size = ((block >> 1) & 3) === 1 ? 1 : block >> 3;
      if (isLast) expect('magic', size + (hasChecksum ? 4 : 0));
      else expect('block', size);
    },
    skippable(): void {
      isLast = true;
      expect('magic', head.readUInt32LE());
    },
  } as const satisfies Record<Awaited, () => void>;

  return {
    /** Reads on from `at`: the index that it came to, and whether a frame ends there. */
    read(chunk: Uint8Array, at: number): { readonly next: number; readonly ends: boolean } {
      if (isUnknown) return { next: chunk.byteLength, ends: false };
      let next = at + Math.min(skip, chunk.byteLength - at);
      skip -= next - at;
      while (skip === 0 && !isLast && next < chunk.byteLength && collected < LENGTHS[awaited]) {
        head[collected] = chunk[next] ?? 0;
        [collected, next] = [collected + 1, next + 1];
      }
      if (skip === 0 && !isLast && collected === LENGTHS[awaited]) understand[awaited]();
      const ends = isLast && skip === 0;
      if (ends) isLast = false;
      return { next, ends };
    },
  };
}

/** The bytes of a frame's header after its descriptor: the window, the dictionary's id and the size of the content. */
function headerRest(descriptor: number): number {
  const isSingle = (descriptor & 0x20) !== 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const content = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return (isSingle ? 0 : 1) + dictionary + content;
}
