import childProcess, { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, readFileSync } from 'node:fs';
import promises, { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LEASES } from '../../lib/jobs/job-storage.ts';
import { networkOf } from '../../lib/table/network-disk.ts';
import { createAliveness } from '../../lib/table/sqlite-aliveness.ts';
import { refuseOldSqlite, sqliteFile } from '../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();
let path: string;
beforeEach(async () => {
  path = join(folder.path, 'store', 'jobs.db');
});

afterEach(() => sqliteFile(path).close());

const key = { partition: 'job#a', sort: '-' };
const put = (token: string, row = {}) =>
  createSqliteTable(sqliteFile(path)).put(key, row, { expected: null, token });
const SOURCE = new URL('../../lib/table/', import.meta.url).href;

/** Arguments for Node to run code in its own process, with the opened `file` and `table`. */
const program = (code: string) => [
  '--input-type=module',
  '-e',
  `import { refuseOldSqlite, sqliteFile } from '${SOURCE}sqlite-file.ts';
   import { createSqliteTable } from '${SOURCE}sqlite-table.ts';
   const file = sqliteFile(${JSON.stringify(path)});
   const table = createSqliteTable(file, { leases: ${JSON.stringify(LEASES)} });
   ${code}`,
];

test('reading does not create the file', async () => {
  const table = createSqliteTable(sqliteFile(path));

  expect(await table.get(key)).toBeUndefined();
  expect(await Array.fromAsync(table.scan(''))).toEqual([]);
  expect(await readdir(folder.path)).toEqual([]);
});

test.skipIf(process.platform === 'win32')(
  'no other user may read the file, its log or its index',
  async () => {
    await put('t1');

    for (const suffix of ['', '-wal', '-shm'])
      expect((await stat(`${path}${suffix}`)).mode & 0o777).toBe(0o600);
  },
);

test('six processes open a new file concurrently', { timeout: 60_000 }, async () => {
  const code = `for (let i = 0; i < 20; i += 1)
    await table.put({ partition: process.pid + '', sort: i + '' }, {}, { expected: null, token: 'a' });`;

  await Promise.all(Array.from({ length: 6 }, () => promisify(execFile)(process.execPath, program(code))));

  expect(await Array.fromAsync(createSqliteTable(sqliteFile(path)).scan(''))).toHaveLength(120);
});

test('another process’s lock is awaited while the event loop runs; after five seconds the table is busy', {
  timeout: 20_000,
}, async () => {
  await put('t1');
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 10);

  await expect(put('t2')).rejects.toMatchObject({ failure: { kind: 'busy', code: 'SQLITE_BUSY' } });
  expect(turns).toBeGreaterThan(200);
  const waiting = put('t1');
  other.exec('ROLLBACK');
  expect(await waiting).toEqual({ kind: 'stored' });

  clearInterval(turning);
  other.close();
});

test('a process creates another lock file if another process deletes the first before it is locked', async () => {
  const { exec } = DatabaseSync.prototype;
  const deleted: string[] = [];
  const locking = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    const mark = this.location() ?? '';
    if (sql === 'BEGIN EXCLUSIVE' && deleted.length === 0) {
      fs.rmSync(mark);
      deleted.push(basename(mark));
    }
    exec.call(this, sql);
  });

  const aliveness = createAliveness(folder.path);
  const name = aliveness.self();

  expect(deleted).toHaveLength(1);
  expect(deleted).not.toContain(name);
  expect(createAliveness(folder.path).isAlive(name)).toBe(true);
  aliveness.end();
  locking.mockRestore();
});

test('writes of one turn of the event loop share a transaction', async () => {
  await put('t1');
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec');

  await Promise.all(Array.from({ length: 16 }, (_, index) => put(`other-${index}`)));

  expect(exec.mock.calls.filter(([sql]) => sql === 'COMMIT')).toHaveLength(1);
  exec.mockRestore();
});

test('writes of many turns are all stored', async () => {
  const writes: Promise<unknown>[] = [];
  for (let turn = 0; turn < 50; turn += 1) {
    const own = { partition: 'turn', sort: `${turn}` };
    writes.push(createSqliteTable(sqliteFile(path)).put(own, {}, { expected: null, token: 't' }));
    await new Promise(setImmediate);
  }

  expect(await Promise.all(writes)).toEqual(Array.from({ length: 50 }, () => ({ kind: 'stored' })));
});

test('on a full disk the write is refused, reads continue, and the retry succeeds', async () => {
  await put('t1');
  const table = createSqliteTable(sqliteFile(path));
  const big = { sort: 'big', partition: 'b' };
  const row = { text: 'x'.repeat(300_000) };
  await sqliteFile(path).read('fill', (db) => db.exec('PRAGMA max_page_count = 12'));

  await expect(table.put(big, row, { expected: null, token: 't2' })).rejects.toMatchObject({
    failure: { kind: 'full', code: 'SQLITE_FULL' },
  });
  expect(await table.get(key)).toEqual({ row: {}, token: 't1' });
  expect(await table.get(big)).toBeUndefined();
  await sqliteFile(path).read('empty', (db) => db.exec('PRAGMA max_page_count = 100000'));
  expect(await table.put(big, row, { expected: null, token: 't2' })).toEqual({ kind: 'stored' });
});

describe('a file is refused by name if it is', () => {
  const refused = (got: unknown) => ({ failure: { kind: 'bad-table', table: path, got } });
  const close = () => sqliteFile(path).close();

  test.each([
    ['zeroed', async () => writeFile(path, Buffer.alloc(8_192)), expect.stringContaining('not SQLite')],
    ['cut', async () => truncate(path, 8_192), expect.stringContaining('damaged')],
    [
      'another program’s',
      async () => {
        await rm(path);
        const other = new DatabaseSync(path);
        other.exec('CREATE TABLE notes (text)');
        other.close();
      },
      expect.stringContaining('another program'),
    ],
    ['newer', async () => change('PRAGMA user_version = 2'), expect.stringContaining('newer')],
  ])('%s', async (_, damage, got) => {
    await put('t1');
    close();
    await damage();

    await expect(put('t2')).rejects.toMatchObject(refused(got));
  });

  async function change(sql: string): Promise<void> {
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
  }
});

test('the job and the text that a killed process held are free immediately, and what a running one holds is not', {
  timeout: 30_000,
}, async () => {
  const untilMs = Date.now() + 3_600_000;
  const leased = { leaseUntilMs: untilMs, leaseEndsMs: untilMs };
  const code = `await table.put(${JSON.stringify(key)}, ${JSON.stringify(leased)}, { expected: null, token: 'a' });
    console.log('stored'); setInterval(() => {}, 1000);`;
  const worker = spawn(process.execPath, program(code), { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(worker.stdout, 'data');
  const table = createSqliteTable(sqliteFile(path), { leases: LEASES });
  const held = await table.get(key);

  worker.kill('SIGKILL');
  await once(worker, 'exit');

  // Each process computes the table's time from its own clocks.
  const about = expect.closeTo(untilMs, -3);
  expect(held?.row).toEqual({ leaseUntilMs: about, leaseEndsMs: about });
  await vi.waitFor(
    async () => expect((await table.get(key))?.row).toEqual({ leaseUntilMs: 0, leaseEndsMs: 0 }),
    { timeout: 3_000 },
  );
});

test('a lock whose file cannot be deleted for a while, as on Windows, counts as free anyway', async () => {
  const first = createAliveness(folder.path);
  const name = first.self();
  const [isAliveThen, other] = [createAliveness(folder.path).isAlive(name), createAliveness(folder.path)];
  const rmSync = vi.spyOn(fs, 'rmSync').mockImplementation(() => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  });
  syncBuiltinESMExports();

  first.end();

  expect([isAliveThen, other.isAlive(name)]).toEqual([true, false]);
  rmSync.mockRestore();
  syncBuiltinESMExports();
  expect(other.isAlive(name)).toBe(false);
  // Checking for another process deletes no lock; starting one does.
  other.self();
  other.end();
  expect(await readdir(folder.path)).toEqual([]);
});

describe('erased values are in neither the file nor its log', () => {
  const holders = () =>
    ['', '-wal'].filter((suffix) => readFileSync(`${path}${suffix}`).includes('a secret text'));
  const deleteSecret = async () => {
    await put('t1', { text: 'a secret text' });
    await createSqliteTable(sqliteFile(path)).delete(key, 't1');
  };

  test('while the file is open', async () => {
    await deleteSecret();
    expect(holders()).toEqual(['-wal']);

    await sqliteFile(path).erase();

    expect(holders()).toEqual([]);
  });

  test('once another process has read the log', async () => {
    await put('t0');
    const other = new DatabaseSync(path);
    other.exec('BEGIN; SELECT * FROM rows');
    await createSqliteTable(sqliteFile(path)).delete(key, 't0');
    await deleteSecret();

    const erasing = sqliteFile(path).erase();
    await expect(Promise.race([erasing, setTimeout(100, 'waits')])).resolves.toBe('waits');
    other.close();
    await erasing;

    expect(holders()).toEqual([]);
  });
});

test('writes are on the disk before they are reported, and deleted values are overwritten', async () => {
  await put('t1');
  const pragmas = ['journal_mode', 'synchronous', 'fullfsync', 'checkpoint_fullfsync', 'secure_delete'];

  const set = await sqliteFile(path).read('look', (db) =>
    pragmas.map((name) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]),
  );

  expect(set).toEqual(['wal', 2, 1, 1, 1]);
});

test.each(['3.51.2', '3.9.0'])('SQLite %s is refused', (version) => {
  expect(() => refuseOldSqlite(version)).toThrow('SQLite 3.51.3 or later');
  expect(() => refuseOldSqlite('3.51.10')).not.toThrow();
});

describe('a network disk', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  // The numbers are from linux/magic.h.
  test.skipIf(process.platform !== 'linux').each([
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xfe534d42, 'SMB'],
    [0xff534d42, 'CIFS'],
    [0x01021997, '9p'],
    [0x00c36400, 'Ceph'],
    [0x65735546, 'FUSE'],
  ])('is refused on Linux by the type of its file system: %i, %s', async (type, name) => {
    vi.spyOn(promises, 'statfs').mockResolvedValue({ type } as never);
    syncBuiltinESMExports();

    await expect(put('t1')).rejects.toThrow(
      `SYNC_TABLE=sqlite:FILE to a file on one, which other hosts do not share, got a network disk (${name})`,
    );
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ['/Users/a', undefined],
    ['/Volumes/share/a', 'a network disk (smbfs)'],
    ['/Volumes/share/disk/a', undefined],
  ])('is recognized on macOS by its mount: %s', async (real, kind) => {
    const stdout = [
      '/dev/disk3s1 on / (apfs, sealed, local)',
      '//a@host/share on /Volumes/share (smbfs, nodev)',
      '/dev/disk4 on /Volumes/share/disk (apfs, local)',
    ].join('\n');
    const mount = (_: string, done: (error: null, found: object) => void) => done(null, { stdout });
    vi.spyOn(childProcess, 'execFile').mockImplementation(mount as never);
    vi.spyOn(promises, 'realpath').mockResolvedValue(real);
    syncBuiltinESMExports();

    expect(await networkOf('.', 'darwin')).toBe(kind);
  });

  test.each([
    ['\\\\server\\share\\store', 'a network share'],
    ['\\\\?\\UNC\\server\\share', 'a network share'],
    ['\\\\?\\C:\\store', undefined],
    ['C:\\store', undefined],
  ])('is recognized on Windows by its path: %s', async (real, kind) => {
    vi.spyOn(promises, 'realpath').mockResolvedValue(real);
    syncBuiltinESMExports();

    expect(await networkOf('.', 'win32')).toBe(kind);
  });
});
