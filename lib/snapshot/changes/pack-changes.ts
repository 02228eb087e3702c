import { createFramePacker } from '../frames/frame-packer.ts';
import { type LineChange, piecesOf } from './change.ts';

/** The bytes of a gzip member before compression. */
const MEMBER_BYTES = 1_000_000;

/**
 * Changes as gzipped lines, in pieces of whole gzip members: the same changes give the same bytes. Without changes
 * there are no pieces. `counted` is called with each change.
 */
export async function* packChanges(
  changes: AsyncIterable<readonly LineChange[]>,
  counted: (change: LineChange) => void,
): AsyncGenerator<Buffer> {
  let packed: Buffer[] = [];
  const packer = createFramePacker<undefined>('gzip', (body) => packed.push(body));
  for await (const some of changes) {
    for (const change of some) {
      counted(change);
      for (const piece of piecesOf(change)) {
        if (typeof piece === 'string') packer.addText(piece);
        else packer.add(piece);
      }
      packer.addText('\n');
      if (packer.openBytes() >= MEMBER_BYTES) await packer.end(undefined);
    }
    if (packed.length === 0) continue;
    yield* packed;
    packed = [];
  }
  if (packer.openBytes() > 0) await packer.end(undefined);
  await packer.settle();
  yield* packed;
}
