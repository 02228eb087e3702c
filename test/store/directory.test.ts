import { mkdir, mkdtemp, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { scaled } from '../scale.ts';
import { startChild } from './start-child.ts';
import { describeStore } from './store-suite.ts';

/** Makes the clock four times as fast, so that a test waits for an abandoned lock only a quarter of the time. */
function hurry(): Disposable {
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => 4 * now());
  return { [Symbol.dispose]: () => clock.mockRestore() };
}

const parent = folderOfAll();
const makeDirectory = () => mkdtemp(join(parent, 'store-'));

describeStore('a directory store', async () => createDirectoryStore(await makeDirectory()));

describe('in a directory', () => {
  test('the store is created with its first object', async () => {
    const directory = join(await makeDirectory(), 'not/yet/there');
    const store = createDirectoryStore(directory);

    const before = await Array.fromAsync(store.list(''));
    await store.put('a', Buffer.from('x'));

    expect(store.location).toBe(directory);
    expect(before).toEqual([]);
    expect(await Array.fromAsync(store.list(''))).toMatchObject([{ key: 'a', sizeBytes: 1 }]);
    // The store may contain customers' texts, so only its owner may read it; the folders above it are left alone.
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(dirname(directory))).mode & 0o050).toBe(0o050);
  });

  test.skipIf(process.platform === 'win32')(
    'a name that is too long for a file is an error, not a missing object',
    async () => {
      const store = createDirectoryStore(await makeDirectory());

      await expect(store.get('a'.repeat(300))).rejects.toMatchObject({
        failure: { kind: 'other', code: 'ENAMETOOLONG' },
      });
    },
  );

  test('a key cannot be both an object and a folder', async () => {
    const store = createDirectoryStore(await makeDirectory());
    await store.put('a', Buffer.from('x'));
    await store.put('b/c', Buffer.from('x'));

    const below = () => store.put('a/b', Buffer.from('y'));
    const above = () => store.copy('a', 'b');

    await expect(below()).rejects.toThrow(/use a\/b in .*: it conflicts with the object a/);
    await expect(above()).rejects.toThrow(/use b in .*: it conflicts with a folder of objects, b\//);
    expect((await store.get('a'))?.body).toEqual(Buffer.from('x'));
  });

  test('no key leads out of the directory through a symbolic link', async () => {
    const [directory, outside] = [await makeDirectory(), await makeDirectory()];
    await writeFile(join(outside, 'secret'), 'x');
    await symlink(outside, join(directory, 'link'));
    await symlink(join(outside, 'secret'), join(directory, 'file'));
    const store = createDirectoryStore(directory);
    const calls = [
      () => store.get('link/secret'),
      () => store.stream('file'),
      () => store.put('link/new', Buffer.from('y')),
      () => store.delete('link/secret'),
      () => Array.fromAsync(store.list('link/')),
    ];

    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ failure: { kind: 'key-conflict' } });

    expect(await Array.fromAsync(store.list(''))).toEqual([]);
    expect(await readdir(outside)).toEqual(['secret']);
  });

  test.each(['.store', '.store/temporary', '.store/locks'])(
    'nothing is removed or written through a link at %s',
    async (link) => {
      const [directory, outside] = [await makeDirectory(), await makeDirectory()];
      const folders = [outside, join(outside, 'temporary'), join(outside, 'locks')];
      const twoHoursAgo = new Date(Date.now() - 7_200_000);
      for (const folder of folders) {
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'precious'), 'x');
        await utimes(join(folder, 'precious'), twoHoursAgo, twoHoursAgo);
      }
      await writeFile(join(directory, 'object'), 'x');
      await mkdir(dirname(join(directory, link)), { recursive: true });
      await symlink(outside, join(directory, link));
      const before = await readdir(outside, { recursive: true });
      const store = createDirectoryStore(directory);
      const calls = [
        () => store.put('new', Buffer.from('y')),
        () => store.putStream('new', (async function* () {})()),
        () => store.copy('object', 'new'),
        () => store.delete('object'),
      ];

      const failures = await Promise.all(calls.map((call) => call().catch((error: unknown) => error)));

      // A delete writes no temporary file, so it may succeed.
      const refused = failures.filter((failure) => failure !== undefined);
      expect(refused.length).toBeGreaterThanOrEqual(link === '.store/temporary' ? 3 : 4);
      for (const failure of refused) expect(failure).toMatchObject({ failure: { kind: 'key-conflict' } });
      expect(await readdir(outside, { recursive: true })).toEqual(before);
    },
  );

  test('a file that a killed process left half-written is removed after an hour, not before', async () => {
    const directory = await makeDirectory();
    const temporary = join(directory, '.store/temporary');
    await mkdir(temporary, { recursive: true });
    await writeFile(join(temporary, 'old'), 'x');
    await writeFile(join(temporary, 'new'), 'x');
    const twoHoursAgo = new Date(Date.now() - 7_200_000);
    await utimes(join(temporary, 'old'), twoHoursAgo, twoHoursAgo);

    await createDirectoryStore(directory).put('a', Buffer.from('x'));

    expect(await readdir(temporary)).toEqual(['new']);
  });

  test('a copy is a second name of the same file, and is never deleted as an abandoned file', async () => {
    const directory = await makeDirectory();
    const store = createDirectoryStore(directory);
    await store.put('a', Buffer.from('x'));
    const twoHoursAgo = new Date(Date.now() - 7_200_000);
    await utimes(join(directory, 'a'), twoHoursAgo, twoHoursAgo);

    await store.copy('a', 'b');

    const [a, b] = [await stat(join(directory, 'a')), await stat(join(directory, 'b'))];
    expect(b.ino).toBe(a.ino);
    expect(b.mtimeMs).toBeGreaterThan(twoHoursAgo.getTime() + 3_600_000);
  });

  test('nothing is left behind by puts, copies and refusals', async () => {
    const directory = await makeDirectory();
    const store = createDirectoryStore(directory);

    await store.put('a', Buffer.from('x'));
    await store.put('a', Buffer.from('y'), { condition: { ifAbsent: true } });
    await store.copy('a', 'b');
    await store.delete('a');

    expect(await readdir(join(directory, '.store/temporary'))).toEqual([]);
    expect(await readdir(join(directory, '.store/locks'))).toEqual([]);
  });
});

describe('between processes', () => {
  test('a process that is killed while it writes leaves either the old object or the new one, complete', async () => {
    const directory = await makeDirectory();
    const store = createDirectoryStore(directory);

    for (const linesBeforeKill of scaled(0, 1) > 0 ? [1, 2, 5, 8] : [1, 5]) {
      await using child = startChild('write-forever.ts', directory);
      await child.lines(linesBeforeKill);
      await child.kill();

      const body = (await store.get('object'))?.body ?? Buffer.alloc(0);
      expect([0, 4 * 1024 * 1024]).toContain(body.length);
      expect(body.equals(Buffer.alloc(body.length, body.at(0)))).toBe(true);
      expect((await Array.fromAsync(store.list(''))).length).toBeLessThanOrEqual(1);
    }
  });

  test('a reader gets only complete objects while another process writes', async () => {
    const directory = await makeDirectory();
    const store = createDirectoryStore(directory);
    await using child = startChild('write-forever.ts', directory);
    await child.lines(2);

    for (const _ of Array(scaled(20, 60)).keys()) {
      const body = (await store.get('object'))?.body ?? Buffer.alloc(0);

      expect(body.length).toBe(4 * 1024 * 1024);
      expect(body.equals(Buffer.alloc(body.length, body.at(0)))).toBe(true);
    }
  });

  test('a process that is killed between lock and rename blocks other processes only for a few seconds', async () => {
    const directory = await makeDirectory();
    const store = createDirectoryStore(directory);
    const old = await store.put('object', Buffer.from('old'));
    await using child = startChild('hold-lock.ts', directory);
    await child.lines(1);
    await child.kill();

    using _ = hurry();
    const startedAt = performance.now();
    const condition = { ifMatch: old.kind === 'stored' ? old.etag : '' };
    const found = await store.get('object');
    const result = await store.put('object', Buffer.from('new'), { condition });

    expect(found?.body).toEqual(Buffer.from('old'));
    expect(result).toMatchObject({ kind: 'stored' });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await Array.fromAsync(store.list(''))).toMatchObject([{ key: 'object', sizeBytes: 3 }]);
  });

  test('three processes that increment a counter in one object lose no increment, whatever their clocks', async () => {
    const directory = await makeDirectory();
    await using ahead = startChild('count.ts', directory, '15', '3600000');
    await using behind = startChild('count.ts', directory, '15', '-86400000');
    await using stepping = startChild('count.ts', directory, '15', '2000', 'steps');

    const codes = await Promise.all([ahead.exit(), behind.exit(), stepping.exit()]);
    const counter = await createDirectoryStore(directory).get('counter');

    expect(codes).toEqual([0, 0, 0]);
    expect(counter?.body.toString()).toBe('45');
  });

  test('a process that is stopped until other processes took over its lock does not undo their increments', async () => {
    const directory = await makeDirectory();
    await using first = startChild('count.ts', directory, '150');
    await using second = startChild('count.ts', directory, '150');

    for (const _ of Array(scaled(1, 3)).keys()) {
      await Promise.all([first.lines(1), second.lines(1)]);
      first.signal('SIGSTOP');
      await sleep(3_500);
      first.signal('SIGCONT');
    }
    const codes = await Promise.all([first.exit(), second.exit()]);
    const counter = await createDirectoryStore(directory).get('counter');

    expect(codes).toEqual([0, 0]);
    expect(counter?.body.toString()).toBe('300');
  });
});

describe('with a clock that differs from the file system’s', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => vi.useRealTimers());

  test.for([3_600_000, -86_400_000])('(by %i ms) objects are stored and deleted', async (byMs) => {
    const directory = await makeDirectory();
    const other = join(directory, '.store/temporary/other');
    await mkdir(dirname(other), { recursive: true });
    await writeFile(other, 'another process is writing this');
    vi.setSystemTime(Date.now() + byMs);
    const store = createDirectoryStore(directory);

    const first = await store.put('object', Buffer.from('x'), { condition: { ifAbsent: true } });
    vi.setSystemTime(Date.now() - 2 * byMs);
    const second = await store.put('object', Buffer.from('y'), { condition: { ifAbsent: true } });
    await store.delete('object');

    expect([first.kind, second.kind]).toEqual(['stored', 'condition-failed']);
    expect(await Array.fromAsync(store.list(''))).toEqual([]);
    expect(await readdir(dirname(other))).toEqual(['other']);
  });
});
