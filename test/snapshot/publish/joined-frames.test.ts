import { expect, test } from 'vitest';
import { createJoinedFrames } from '../../../lib/snapshot/publish/joined-frames.ts';
import { frameOf } from './work-parts.ts';

test('frames are whole unless one was cut, or pieces of one are being mended', async () => {
  const joined = createJoinedFrames('gzip', () => undefined);
  const isWhole = [joined.isWhole()];

  for (const end of ['frame', 'closed', 'closed', 'frame', 'closed', 'part'] as const) {
    await joined.add(await frameOf([1]), end, 'part');
    isWhole.push(joined.isWhole());
  }

  expect(isWhole).toEqual([true, true, false, false, true, false, true]);
});
