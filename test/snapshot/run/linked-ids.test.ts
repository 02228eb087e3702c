import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { datasetsUsed } from '../../../lib/model/rules/record-rules.ts';
import { beginRun } from '../../../lib/snapshot/run/begin-run.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishLines, tuesday, wednesday } from '../changes/publish-lines.ts';
import { storeRun } from '../changes/stored-run.ts';

/** Begins a run of cards. Returns the ids of the datasets to read, and the run that they come from. */
async function datasetsIn(store: Store, platform = 'acme.example.com') {
  const clock = { now: Date.now, random: Math.random };
  const request = { source: 'cards', drill: true } as const;
  const { checkpoint } = await beginRun(request, { store, platform, compression: 'gzip', ...clock });
  const stored = await store.get(`work/cards/${checkpoint.run}/_ids.json`);
  return { ids: JSON.parse(String(stored?.body)).ids as readonly string[], from: checkpoint.idsFrom };
}

const links = (...resources: readonly unknown[]) =>
  JSON.stringify({ id: 1, links: resources.map((resource) => ({ resource, visible: true })) });

const dataset = (id: string) => ({ type: 'DATA_SOURCE', id });

test('each dataset that a calculation links to is returned once, in any spelling, sorted by id as a string', async () => {
  const store = createMemoryStore({ chunkBytes: 100 });
  const lines = [
    '{"id":1,"activeLinks":{"DATA_SOURCE":["d"]}}',
    links(dataset('c'), dataset('A')),
    links(dataset('a')),
    links(dataset('B'), dataset('10')),
  ];
  await publishLines(store, { run: tuesday, lines });

  expect(await datasetsIn(store)).toEqual({
    ids: ['10', 'A', 'B', 'c', 'd'],
    from: `calculations, run ${tuesday.id}`,
  });
});

test('the ids are collected from all parts of the last published run', async () => {
  const store = createMemoryStore({ chunkBytes: 100 });
  await publishLines(store, { run: tuesday, lines: [links(dataset('of-tuesday'))] });
  await publishLines(store, { run: wednesday, lines: [links(dataset('of-wednesday'))] });

  const linked = await datasetsIn(store);

  expect(linked).toEqual({ ids: ['of-wednesday'], from: `calculations, run ${wednesday.id}` });
});

test('a narrowed snapshot is ignored: without a whole one the error says what is missing', async () => {
  const store = createMemoryStore({ chunkBytes: 100 });
  await publishLines(store, { place: 'calculations.mine', run: tuesday, lines: [links(dataset('a'))] });

  await expect(datasetsIn(store)).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: 'memory: there is no published snapshot of calculations to take datasets from',
  });
});

test('calculations of another platform are refused, since their ids mean nothing here', async () => {
  const store = createMemoryStore({ chunkBytes: 100 });
  await publishLines(store, { run: tuesday, lines: [links(dataset('a'))] });

  await expect(datasetsIn(store, 'other.example.com')).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: `memory: there is no published snapshot of calculations of other.example.com to take datasets from; the last one, run ${tuesday.id}, is of acme.example.com`,
  });
});

async function publishParts(store: Store, lines: readonly string[]): Promise<void> {
  const { parts } = await storeRun(store, 'calculations/parts', lines, { partRecords: 2 });
  await publishLines(store, { run: tuesday, manifest: { parts } });
}

const lines = [
  links(dataset('c'), dataset('a')),
  links(dataset('a')),
  links(dataset('a'), dataset('b')),
  links(dataset('d')),
  links(dataset('b'), dataset('e')),
];

test('the ids are those that parsing whole records finds, whatever the records look like', async () => {
  const link = fc.oneof(
    fc.record({ type: fc.constantFrom('DATA_SOURCE', 'data_source', 'CARD'), id: fc.string() }),
    fc.jsonValue(),
  );
  const field = fc.constantFrom('"links"', '"link\\u0073"', '"id"', '"other"', '"__proto__"');
  const value = fc.oneof(
    fc.array(link, { maxLength: 3 }).map((all) => JSON.stringify(all.map((resource) => ({ resource })))),
    fc.jsonValue().map((each) => JSON.stringify(each)),
    fc.constant(`${'['.repeat(500)}${']'.repeat(500)}`),
  );
  const record = fc
    .array(fc.tuple(field, value), { maxLength: 5 })
    .map((members) => `{${members.map(([name, text]) => `${name}: ${text}`).join(' , ')}}`);

  await fc.assert(
    fc.asyncProperty(fc.array(record), async (all) => {
      const store = createMemoryStore({ chunkBytes: 100 });
      await publishParts(store, all);

      const { ids } = await datasetsIn(store);

      const expected = all.flatMap((line) => datasetsUsed(JSON.parse(line)).map(({ id }) => id));
      // The case of an id does not matter.
      expect(new Set(ids.map((id) => id.toLowerCase()))).toEqual(
        new Set(expected.map((id) => id.toLowerCase())),
      );
    }),
  );
});

test.each([
  ['is missing', undefined, 'expected a part, got nothing'],
  ['is altered', Buffer.from(gzipSync('{}\n')), 'expected the sha256'],
])('a part that %s is named, with what to do', async (_what, body, said) => {
  const store = createMemoryStore({ chunkBytes: 100 });
  await publishParts(store, lines);
  const stream: Store['stream'] = async (key, ...rest) => {
    if (!key.includes('part-00001')) return store.stream(key, ...rest);
    return body === undefined ? undefined : store.stream('altered');
  };
  if (body !== undefined) await store.put('altered', body);

  const reading = datasetsIn({ ...store, stream });

  await expect(reading).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: expect.stringMatching(
      new RegExp(
        `^calculations/parts/part-00001.*${said}.*; publish a new snapshot of calculations with --force`,
      ),
    ),
  });
});

test('a line that is not JSON is named by its part and number', async () => {
  const store = createMemoryStore({ chunkBytes: 100 });
  await publishParts(store, [...lines.slice(0, 3), '{"links":[}']);

  await expect(datasetsIn(store)).rejects.toThrow(
    /^calculations\/parts\/part-00001.*, line 2: expected a record as JSON, got something else; /,
  );
});
