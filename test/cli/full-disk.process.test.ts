import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { settingsOf } from './run-command.ts';
import { spawnCommand } from './spawn-command.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);
const onDisk = (name: string) => at(`disk/${name}`);
const mount = (...options: readonly string[]) =>
  execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', at('disk')], { stdio: 'ignore' });

/** False without the right to mount a file system; the tests are then skipped. */
let isMounted = false;
beforeEach(() => {
  mkdirSync(at('disk'));
  try {
    mount('-o', 'size=8m,nr_inodes=400');
    isMounted = true;
  } catch {
    isMounted = false;
  }
  writeFileSync(at('rows.csv'), 'id,text\n1,good\n2,bad\n');
  const [sum] = codePackages;
  const job = {
    type: 'run-function',
    packageId: sum?.id,
    packageVersion: '1.0.0',
    functionName: 'addNumbers',
  };
  const inputVariables = { first: '{{id:number}}', second: 1 };
  writeFileSync(at('job.json'), JSON.stringify({ ...job, inputVariables }));
});
afterEach(() => {
  if (isMounted) execFileSync('umount', [at('disk')]);
});

async function command(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawnCommand(argv, environment);
  const beganMs = performance.now();
  const [err, out, [code]] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'exit')]);
  return { code, err, out, tookMs: performance.now() - beganMs };
}

/** Fills the disk to the last byte, even while other processes write to it. */
function fill(): void {
  const { bavail, bsize } = statfsSync(at('disk'));
  for (let blocks = bavail; blocks >= 0; blocks -= 1)
    try {
      appendFileSync(onDisk('others'), Buffer.alloc(bsize));
    } catch {
      return;
    }
}

function useUpInodes(): void {
  mkdirSync(onDisk('others'));
  for (let index = statfsSync(at('disk')).ffree; index > 0; index -= 1)
    writeFileSync(onDisk(`others/${index}`), '');
}

const makeRoom = () => rmSync(onDisk('others'), { recursive: true });

const ROWS = ['--from-csv', 'rows.csv', '--template', 'job.json'];

const COMMANDS = {
  snapshot: ['snapshot', 'calculations'],
  score: ['score', 'rows.csv', '--text', 'text', '--output', 'scored.csv'],
  run: ['run', ...ROWS, '--name', 'two'],
  jobs: ['jobs'],
  work: ['work', '--drain'],
} as const;

const argvOf = (name: keyof typeof COMMANDS) =>
  COMMANDS[name].map((word) => (/\.(csv|json)$/.test(word) ? at(word) : word));

test.for([
  ['full', fill, makeRoom, /its file system is full.*(ENOSPC|no space)/s, 'free some space'],
  ['out of inodes', useUpInodes, makeRoom, /its file system is full.*(ENOSPC|no space)/s, 'free some space'],
  [
    'read-only',
    () => mount('-o', 'remount,ro'),
    () => mount('-o', 'remount,rw'),
    /its file system is read-only/,
    'can be written to',
  ],
] as const)(
  'on a disk that is %s each command fails immediately, and succeeds when it is repeated later',
  {
    timeout: 120_000,
  },
  async ([, spoil, undo, reason, remedy], { skip }) => {
    skip(!isMounted, 'no right to mount a file system');
    await using platform = await startPlatform({ calculations: 30 });
    const settings = settingsOf(platform, onDisk('store'));
    const all = Object.keys(COMMANDS) as readonly (keyof typeof COMMANDS)[];
    const names = spoil === fill ? all : (['snapshot', 'run'] as const);
    await command(argvOf('snapshot'), settings);
    await command(['submit', ...ROWS.map((word) => (word.startsWith('--') ? word : at(word)))], settings);

    spoil();
    for (const name of names) {
      const { code, err, tookMs } = await command(argvOf(name), settings);

      // `jobs` only reads the table, so it may succeed.
      if (name === 'jobs' && code === 0) continue;
      expect(err, name).toMatch(reason);
      expect(err, name).toContain(onDisk('store'));
      expect(err, name).toContain(remedy);
      expect([code, tookMs < 10_000], name).toEqual([1, true]);
    }
    expect(platform.counts().executions).toEqual([]);
    undo();
    for (const name of names) expect((await command(argvOf(name), settings)).code, name).toBe(0);
    expect(platform.counts().executions).toHaveLength(spoil === fill ? 4 : 2);
  },
);

test.for([
  ['work', 'SIGINT', ['work']],
  ['work', 'SIGTERM', ['work']],
  ['snapshot', 'SIGINT', ['snapshot', 'calculations']],
  ['snapshot', 'SIGTERM', ['snapshot', 'calculations']],
] as const)(
  'while the disk fills up, %s ends immediately at %s',
  { timeout: 60_000 },
  async ([, signal, argv], { skip }) => {
    skip(!isMounted, 'no right to mount a file system');
    await using platform = await startPlatform({ calculations: 3_000, latencyMs: 500 });
    const settings = settingsOf(platform, onDisk('store'));
    await command(['submit', ...ROWS.map((word) => (word.startsWith('--') ? word : at(word)))], settings);
    const child = spawnCommand(argv, settings);
    const ended = Promise.all([text(child.stderr), text(child.stdout), once(child, 'exit')]);
    await vi.waitFor(() => expect(platform.counts().requests).toBeGreaterThan(0), 20_000);
    fill();

    child.kill(signal);
    const beganMs = performance.now();
    const [, , [code, by]] = await ended;

    // It must exit by itself, not by the signal, whether or not it could store anything.
    expect([typeof code, by, performance.now() - beganMs < 10_000]).toEqual(['number', null, true]);
  },
);

test.for([
  ['full', fill],
  ['out of inodes', useUpInodes],
] as const)('prune frees space on a disk that is %s', { timeout: 60_000 }, async ([, spoil], { skip }) => {
  skip(!isMounted, 'no right to mount a file system');
  await using platform = await startPlatform({ calculations: 30 });
  const settings = settingsOf(platform, onDisk('store'));
  for (let run = 1; run <= 8; run += 1) await command(argvOf('snapshot'), settings);
  spoil();
  const before = statfsSync(at('disk'));

  const { code, err, out } = await command(['prune', '--keep', '1', '--yes'], settings);

  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('7 runs');
  const after = statfsSync(at('disk'));
  expect([after.bavail > before.bavail, after.ffree > before.ffree]).toEqual([true, true]);
  expect((await command(['runs', 'calculations'], settings)).code).toBe(0);
});

test('a code function whose response arrives when the disk is full is sent once, and its outcome is recorded', {
  timeout: 60_000,
}, async ({ skip }) => {
  skip(!isMounted, 'no right to mount a file system');
  await using platform = await startPlatform({ calculations: 1, latencyMs: 1_500 });
  const settings = settingsOf(platform, onDisk('store'));
  await command(argvOf('jobs'), settings);
  const running = command([...argvOf('run'), '--concurrency', '2', '--json'], settings);
  // Both requests were sent, and neither has its response.
  await vi.waitFor(() => expect(platform.counts().requests).toBe(2), { interval: 5, timeout: 20_000 });
  fill();

  const stopped = await running;
  const isReserveLeft = existsSync(onDisk('store/.store/jobs.db-reserve'));
  makeRoom();
  const { code, out } = await command([...argvOf('run'), '--json'], settings);

  // The reserved space is used, and may be enough for the results too.
  expect(isReserveLeft).toBe(false);
  expect([0, 1]).toContain(stopped.code);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ failed: 0, unknown: 0 });
  expect(platform.counts().executions).toHaveLength(2);
});
