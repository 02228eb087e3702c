import { MOST_LINE_BYTES } from '../frames/frame-limits.ts';
import { type PartToRead, partChunks, tooLarge } from './part-chunks.ts';

/**
 * The lines of a part, in batches as they arrive; of an object that is checked, they are certain at its end. Throws
 * what `partChunks` throws.
 */
export async function* partLines(options: PartToRead): AsyncGenerator<readonly string[]> {
  let carried: Buffer[] = [];
  let carriedBytes = 0;
  for await (const chunk of partChunks(options)) {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      // Each line is decoded on its own: a slice of a longer text would keep the whole text in memory.
      if (carried.length === 0) lines.push(chunk.toString('utf8', from, end));
      else lines.push(Buffer.concat([...carried, chunk.subarray(from, end)]).toString('utf8'));
      carried = [];
      from = end + 1;
    }
    if (from < chunk.byteLength) carried.push(chunk.subarray(from));
    carriedBytes = chunk.byteLength - from + (from === 0 ? carriedBytes : 0);
    if (carriedBytes > MOST_LINE_BYTES) throw tooLarge(options.part.key, 'a line');
    if (lines.length > 0) yield lines;
  }
  if (carried.length > 0) yield [Buffer.concat(carried).toString('utf8')];
}

const LINE_END = 0x0a;
