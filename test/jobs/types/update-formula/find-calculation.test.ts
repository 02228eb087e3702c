import { expect, test } from 'vitest';
import {
  findCalculation,
  refuseIfChanged,
} from '../../../../lib/jobs/types/update-formula/find-calculation.ts';
import type { Platform } from '../../../../lib/platform/index.ts';

const LAST_MODIFIED: Readonly<Record<string, string | number | null>> = {
  4: null,
  5: 5_000,
  6: '1970-01-01T00:00:05Z',
};

type Page = { readonly ids: readonly string[]; readonly degraded?: boolean };

/** Looks for calculation 5 on these pages. `read`: the number of pages that were read. */
async function find(...given: readonly Page[]) {
  let read = 0;
  const { platform, signal } = over(given, () => {
    read += 1;
  });
  const { row, degraded } = await findCalculation({ platform, id: '5', signal });
  return { id: row?.id, degraded, read };
}

function over(given: readonly Page[], onPage = (_search: object) => {}) {
  async function* pages(search: object) {
    for (const { ids, degraded = false } of given) {
      onPage(search);
      yield { rows: ids.map((id) => ({ id, lastModified: LAST_MODIFIED[id] })), degraded };
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
    [{ ids: ['3'] }, { ids: [] }, { ids: ['3', '4', '6'] }, { ids: ['9'] }],
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

test.each([
  ['5', 5_000, undefined],
  [
    '5',
    4_999,
    'was changed at 1970-01-01T00:00:05.000Z, after unlessChangedSince (1970-01-01T00:00:04.999Z); nothing was sent',
  ],
  ['6', 5_000, undefined],
  ['6', 4_999, 'was changed at 1970-01-01T00:00:05.000Z'],
  ['4', 4_999, 'was changed at an unknown time'],
  ['3', 4_999, 'calculation 3: a search for the name "Margin" did not find it'],
])('among calculations with one name, %s must not have changed since %i', async (id, sinceMs, refusal) => {
  const searches: object[] = [];
  const given = over([{ ids: ['9', '4', '5', '6'] }], (search) => searches.push(search));

  const checked = refuseIfChanged({ ...given, name: 'Margin', id, sinceMs });

  await (refusal === undefined ? checked : expect(checked).rejects.toThrow(refusal));
  expect(searches).toEqual([{ name: 'Margin', sort: { field: 'id', ascending: true } }]);
});
