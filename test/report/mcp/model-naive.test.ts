import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StoreError } from '../../../lib/store/error.ts';
import { type NaiveModel, type NaiveStore, naiveModel } from '../../model/naive.ts';
import { anyStore, craftedStore, lineOf, publishable } from '../../model/stores.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { connect, contextOver } from './connect.ts';

const flagNames = {
  broken_links: 'brokenLinks',
  invalid: 'invalid',
  missing_target: 'missingTarget',
  affected: 'affected',
  unused: 'unused',
  same_name: 'sameName',
  same_links: 'sameLinks',
} as const satisfies Record<string, keyof NaiveModel>;

/** Of cards: those of all datasets that calculations use. */
const WHOLE = { selection: { datasets: 'calculations' } };

async function publish({ calculations, cards, files, dataFiles }: NaiveStore): Promise<MemoryStore> {
  const store = createMemoryStore();
  const places = { calculations, cards, files, 'data-files': dataFiles };
  for (const [source, records] of Object.entries(places))
    if (records !== undefined)
      await publishLines(store, {
        place: source as 'calculations',
        run: monday,
        lines: records.map(lineOf),
        manifest: WHOLE,
      });
  return store;
}

type Match = { readonly key: string; readonly label: string; readonly counts: Record<string, number> };

/** What the tools say of datasets, owners and flags is what a naive reading does. */
async function expectNaive(given: NaiveStore, denying = false): Promise<void> {
  const store = await publish(given);
  const denied = () => Promise.reject(new StoreError('put', { kind: 'denied', code: 'AccessDenied' }));
  await using server = await connect(contextOver(denying ? { ...store, put: denied } : store));
  const naive = naiveModel(given);
  const search = async (source: string) => {
    const { value, isError, text } = await server.call('search', { text: '', source, limit: 100 });
    expect({ isError, text: isError ? text : '' }).toEqual({ isError: false, text: '' });
    return (value['data'] as { readonly matches: readonly Match[] }).matches;
  };

  const datasets = await search('datasets');
  const owners = await search('owners');

  expect(
    new Map(
      datasets.map(({ key, counts: { cards, calculations, broken_links: brokenLinks } }) => [
        `dataset ${key}`,
        { cards, calculations, brokenLinks },
      ]),
    ),
  ).toEqual(naive.datasets);
  expect(
    new Map(
      owners.map(({ key, label, counts }) => [
        key,
        {
          ...{ calculations: counts['calculations'], cards: counts['cards'], files: counts['files'] },
          ...{ dataFiles: counts['data_files'], brokenLinks: counts['broken_links'] },
          ...{ invalid: counts['invalid'], missingTarget: counts['missing_target'] },
          ...{ affected: counts['affected'], unused: counts['unused'], locked: counts['locked'] },
          ...{ oldest: counts['oldest_modified'] ?? null, name: label === '' ? null : label },
        },
      ]),
    ),
  ).toEqual(naive.owners);
  for (const own of naive.held) {
    const [kind = '', id = ''] = own.split(/ (.*)/s);
    const { value, text } = await server.call('get', { source: `${kind}s`, id });
    const data = value['data'] as { readonly records: readonly { flags: string[] }[] } | undefined;
    if (data === undefined) throw new Error(`${own}: ${text}`);
    const flags = Object.entries(flagNames).flatMap(([flag, name]) => (naive[name].has(own) ? [flag] : []));
    expect({ own, flags: data.records[0]?.flags.toSorted() }).toEqual({ own, flags: flags.toSorted() });
  }
}

test('datasets, owners and flags are what a naive reading finds, whatever shape links have', () =>
  expectNaive(publishable(craftedStore)));

test('and where nothing may be stored', () => expectNaive(publishable(craftedStore), true));

test('and over any store', async () => {
  await fc.assert(
    fc.asyncProperty(anyStore, (given) => expectNaive({ ...publishable(given), narrowed: [] })),
    { numRuns: 8 },
  );
}, 60_000);

test('search finds every record with a key, and get finds each by it', async () => {
  const files = [
    { _filesetId: 'a/b', id: 'x', path: 'p' },
    { _filesetId: 7, id: 8, path: null },
  ];
  const dataFiles = [{ dataFileId: '007', name: 'd' }, { dataFileId: 12 }];
  const store = await publish({ ...publishable(craftedStore), files, dataFiles });
  await using server = await connect(contextOver(store));

  for (const source of ['calculations', 'cards', 'files', 'data-files'] as const) {
    const { value } = await server.call('search', { text: '', source, limit: 100 });
    const { matches } = value['data'] as { readonly matches: readonly Match[] };
    const { records } = (value['searched'] as readonly { readonly records: number }[])[0] ?? {};
    expect({ source, found: matches.length }).toEqual({ source, found: records });
    for (const { key } of matches) {
      const { value: got, text } = await server.call('get', { source, id: key });
      expect({ key, text }).toMatchObject({
        key,
        text: expect.stringContaining(`"key":${JSON.stringify(key)}`),
      });
      expect(got).toMatchObject({ data: { records: [{ key }] } });
    }
  }
});
