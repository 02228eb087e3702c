import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { parsePart } from '../../lib/jobs/texts/batch/chunk-objects.ts';
import { readLines } from '../../lib/snapshot/changes/line-reader.ts';
import { type Compression, compressionSuffix } from '../../lib/snapshot/keys.ts';
import type { Part } from '../../lib/snapshot/manifest.ts';
import { readParts } from '../../lib/snapshot/run/checkpoint.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { bareEnvironment } from '../compile-cache.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { monday, publishLines, tuesday } from './changes/publish-lines.ts';
import { publishedManifest } from './published-manifest.ts';

const WORK = `work/calculations/${tuesday.id}/`;

const folder = folderOfEach();
let store: Store;

beforeEach(async () => {
  store = createDirectoryStore(folder.path);
});

/** A preload that makes a process write its peak memory to its fourth pipe when it ends. */
const MEASURE = './test/own-peak-at-exit.ts';

/** Runs a command on the store; `output` has the lines of both streams. */
async function run(...argv: readonly string[]) {
  const settings = {
    PLATFORM_BASE_URL: 'https://acme.example.com',
    PLATFORM_TOKEN: 'token',
    SYNC_STORE: folder.path,
    ...bareEnvironment,
  };
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', MEASURE, 'lib/cli/bin.js', ...argv], {
    env: settings,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const memory = child.stdio[3] as Readable;
  const [out, error, peakMb, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    text(memory),
    once(child, 'exit'),
  ]);
  const seconds = (performance.now() - startedAt) / 1000;
  return { code, output: `${error}${out}`.trim().split('\n'), seconds, megabytes: Number(peakMb) };
}

const sha256Of = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');

/** Stores a part of a run, and returns its entry. `differences`: what the entry says wrongly. */
async function plant(index: number, body: Uint8Array, differences: Partial<Part> = {}, suffix = 'gz') {
  const sha256 = sha256Of(body);
  const key = `${WORK}part-0000${index}-${sha256.slice(0, 12)}.ndjson.${suffix}`;
  const part = {
    key,
    records: 1,
    bytes: body.byteLength,
    sha256,
    firstKey: '1',
    lastKey: '1',
    ...differences,
  };
  await store.put(part.key, body);
  return part;
}

const record = gzipSync('{"id":1,"name":"a"}\n');

/** Stores the manifest of a finished run with these parts, so that it can be published. */
async function finish(parts: readonly Part[]): Promise<void> {
  const manifest = publishedManifest({
    source: 'calculations',
    run: tuesday.id,
    startedAt: tuesday.startedAt,
    records: 1,
    parts: [...parts],
  });
  await store.put(`${WORK}_manifest.json`, printStored(manifest));
}

const isPublished = async () => (await store.get('calculations/latest.json')) !== undefined;

const spaces = Buffer.alloc(64 * 1024 * 1024, ' ');
const packedSpaces = { gzip: gzipSync(spaces), zstd: zstdCompressSync(spaces) };

/** `times` 64 MiB of spaces without a line end. 3 GB compress to about 3 MB. */
const bomb = (compression: Compression, times = 48): Buffer =>
  Buffer.concat(Array.from({ length: times }, () => packedSpaces[compression]));

test('a cycle of part entries is refused, and so is an entry that leads to another kind of object', async () => {
  const [one, two] = [`${WORK}part-00000-a.json`, `${WORK}part-00000-b.json`];
  const part = await plant(0, record);
  await store.put(one, printStored({ part, previous: two }));
  await store.put(two, printStored({ part, previous: one }));
  await expect(readParts(store, one)).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: `${one}: the entries of the parts form a cycle`,
  });

  await store.put(two, printStored({ part, previous: 'refused/x.json' }));

  await expect(readParts(store, two)).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: expect.stringMatching(/^refused\/x\.json in .*: expected a part entry, got nothing$/),
  });
});

describe('a decompression bomb', () => {
  test.each(['gzip', 'zstd'] as const)('as a part of %s is named, in bounded memory', async (compression) => {
    const suffix = compressionSuffix[compression];
    const part = await plant(0, bomb(compression), { records: 1_000_000 }, suffix);
    const reader = readLines({ store, parts: [part] });

    await expect(reader.next()).rejects.toMatchObject({
      name: 'StoredObjectError',
      message: `${part.key}: expected lines of at most 134217728 bytes, got a longer line`,
    });
    await reader.close();
  });

  test('in the last published run refuses the next run in bounded memory, and --force publishes it', async () => {
    const body = bomb('gzip');
    const key = `calculations/dt=2026-11-16/run=${monday.id}/part-00000-0123456789ab.ndjson.gz`;
    const part = {
      key,
      records: 2,
      bytes: body.byteLength,
      sha256: sha256Of(body),
      firstKey: '1',
      lastKey: '2',
    };
    await publishLines(store, { run: monday, manifest: { parts: [part], records: 1 } });
    await store.put(key, body);
    await finish([await plant(0, record)]);

    const refused = await run('publish', 'calculations', tuesday.id);
    const forced = await run('publish', 'calculations', tuesday.id, '--force');

    expect(refused.output.join('\n')).toMatch(
      /refused as: broken(?:.|\n)*expected lines of at most 134217728 bytes/,
    );
    expect([refused.code, forced.code]).toEqual([3, 0]);
    expect(refused.seconds).toBeLessThan(30);
    expect(refused.megabytes).toBeLessThan(700);
  });
});

test('a part outside the run’s folder is refused before anything is published', async () => {
  await store.put('inbox/part-00000-0123456789ab.ndjson.gz', record);
  const key = 'inbox/part-00000-0123456789ab.ndjson.gz';
  await finish([{ ...(await plant(0, record)), key }]);

  const ended = await run('publish', 'calculations', tuesday.id);

  expect(ended.output[0]).toContain(`platform-sync: ${key}: expected a part of `);
  expect(ended.code).toBe(1);
  expect(ended.seconds).toBeLessThan(30);
  expect(ended.megabytes).toBeLessThan(400);
  expect(await isPublished()).toBe(false);
  expect(await Array.fromAsync(store.list('calculations/'))).toEqual([]);
});

test('a decompression bomb as a part of scores is named', () => {
  const body = bomb('gzip', 5);
  const key = `scores/b/part-00000-${sha256Of(body).slice(0, 12)}.ndjson.gz`;

  expect(() => parsePart(key, body)).toThrow(
    /^scores\/b\/part-00000-[0-9a-f]{12}\.ndjson\.gz is not what platform-sync writes there \(\d+ bytes that are not rows\)$/,
  );
});
