import { type Encoding, findEncoding } from './encoding.ts';
import { refuseOtherKinds } from './file-kind.ts';
import { openSource, type SourceBytes } from './source-bytes.ts';
import { type SourceLine, sourceLines } from './source-lines.ts';

/** How many bytes of a source its encoding is detected from. */
const SAMPLE_BYTES = 256 * 1024;

/** A source whose bytes are text. */
export type SourceText = SourceBytes & {
  readonly encoding: Encoding;
  /** All its lines, once. */
  readonly lines: () => AsyncGenerator<SourceLine>;
};

/** Opens a text, gzipped or not, in the requested encoding or the one that is found. Throws `RowsError`. */
export async function openText(
  bytes: AsyncIterable<Uint8Array>,
  requested?: string,
): Promise<SourceText & AsyncDisposable> {
  const source = await openSource(bytes, SAMPLE_BYTES);
  try {
    refuseOtherKinds(source.head);
    const encoding = findEncoding(source.head.subarray(0, SAMPLE_BYTES), requested);
    return { ...source, encoding, lines: () => sourceLines(source.all(), encoding) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}
