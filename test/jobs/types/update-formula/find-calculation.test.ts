import { expect, test } from 'vitest';
import {
  findCalculation,
  refuseIfChanged,
} from '../../../../lib/jobs/types/update-formula/find-calculation.ts';
import type { Platform } from '../../../../lib/platform/index.ts';

type Page = { readonly ids: readonly string[]; readonly degraded?: boolean };

/** Finds 5 on these pages; `read`: how many of them were read. */
async function find(...given: readonly Page[]) {
  let read = 0;
  const { platform, signal } = over(given, () => {
    read += 1;
  });
  const { row, degraded } = await findCalculation({ platform, id: '5', signal });
  return { id: row?.id, degraded, read };
}

function over(given: readonly Page[], onPage = () => {}) {
  async function* pages() {
    for (const { ids, degraded = false } of given) {
      onPage();
      yield { rows: ids.map((id) => ({ id, lastModified: Number(id) * 1_000 })), degraded };
    }
  }
  const platform = { calculations: { pages } } as unknown as Pick<Platform, 'calculations'>;
  return { platform, signal: new AbortController().signal };
}

test.each([
  ['is on the first page', [{ ids: ['3', '5'] }, { ids: ['9'] }], { id: '5', degraded: false, read: 1 }],
  [
    'comes after rows that may be missing',
    [{ ids: ['3'], degraded: true }, { ids: ['5'] }],
    { id: '5', degraded: true, read: 2 },
  ],
  [
    'is passed by a page in order',
    [{ ids: ['3'] }, { ids: [] }, { ids: ['4', '6'] }, { ids: ['9'] }],
    { id: undefined, degraded: false, read: 3 },
  ],
  [
    'may come after a page without an order',
    [{ ids: ['9', '6'] }, { ids: ['5'], degraded: true }],
    { id: '5', degraded: true, read: 2 },
  ],
])('a calculation that %s', async (_, pages, found) => {
  expect(await find(...pages)).toEqual(found);
});

test('of calculations with one name, the one that is to be updated must not have changed', async () => {
  const given = { ...over([{ ids: ['9', '5'] }]), name: 'Margin', id: '5' };

  await expect(refuseIfChanged({ ...given, sinceMs: 5_000 })).resolves.toBeUndefined();
  await expect(refuseIfChanged({ ...given, sinceMs: 4_999 })).rejects.toThrow('got one at 5000');
});
