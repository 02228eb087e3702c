import { expect, test } from 'vitest';
import { packFrame, unpackFrame } from '../../../lib/snapshot/frames/frame-codec.ts';
import { createMendedFrames } from '../../../lib/snapshot/publish/mended-frames.ts';

/** Frames whose lines have these sizes, in bytes, once mended: the sizes of the lines of each. */
async function mended(...frames: readonly (readonly number[])[]): Promise<readonly (readonly number[])[]> {
  const packed: Buffer[] = [];
  const joined = createMendedFrames('gzip', (body) => packed.push(body));
  for (const sizes of frames) {
    const lines = sizes.map((size) => `${'a'.repeat(size - 1)}\n`).join('');
    await joined.add(await packFrame(Buffer.from(lines), 'gzip'), 'a part');
  }
  await joined.end();
  const texts = await Promise.all(packed.map(async (body) => `${await unpackFrame(body, 'gzip', 'it')}`));
  return texts.map((text) =>
    text
      .split('\n')
      .map(({ length }) => length + 1)
      .slice(0, -1),
  );
}

test.each([
  ['are one if they are small', [[10], [20, 30]], [[10, 20, 30]]],
  [
    'end with the line that makes 4 MB',
    [
      [3_000_000, 500_000],
      [400_000, 100_000, 50],
    ],
    [[3_000_000, 500_000, 400_000, 100_000], [50]],
  ],
  ['of just 4 MB leave nothing to be packed', [[3_000_000], [1_000_000]], [[3_000_000, 1_000_000]]],
  ['of just 4 MB end before the next', [[3_000_000], [1_000_000], [10]], [[3_000_000, 1_000_000], [10]]],
  [
    'may be cut twice by one frame',
    [[3_500_000], [500_000, 3_100_000, 1_000_000]],
    [
      [3_500_000, 500_000],
      [3_100_000, 1_000_000],
    ],
  ],
])('frames that were cut %s', async (_, frames, expected) => {
  expect(await mended(...frames)).toEqual(expected);
});
