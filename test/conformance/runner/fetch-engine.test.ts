import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Engine } from '../engines/engine.ts';
import { fetchEngine } from './fetch-engine.ts';
import type { Guard } from './guard.ts';

let cache: string;
let fetches: number;

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'fetch-engine-'));
  fetches = 0;
});

afterEach(() => rm(cache, { recursive: true }));

const guard: Guard = { watch: () => {}, release: () => {}, [Symbol.asyncDispose]: async () => {} };
const options = (signal = new AbortController().signal) => ({ cache, guard, signal });

const engineThat = (fetch: Engine['fetch']): Engine => ({
  name: 'An Engine',
  version: '1.0',
  fetch: async (fetching) => {
    fetches += 1;
    await writeFile(join(fetching.folder, 'half'), '');
    await fetch(fetching);
  },
  start: () => ({ engines: {} }),
});

const whole = engineThat(({ run, folder }) => run(['touch', join(folder, 'whole')]));

test('an engine is fetched once, also by two at the same time', async () => {
  const [one, two] = await Promise.all([fetchEngine(whole, options()), fetchEngine(whole, options())]);
  const again = await fetchEngine(whole, options());

  expect([one, two, again]).toEqual(Array.from({ length: 3 }, () => join(cache, 'an-engine-1.0')));
  expect(fetches).toBe(1);
  expect(await readdir(one)).toEqual(['half', 'whole']);
});

test.for([
  ['fails', ['sh', '-c', 'echo no network >&2; exit 3'], 'sh ended with 3: no network'],
  ['needs what is not installed', ['no-such-program'], 'no-such-program is not installed'],
] as const)('a fetch that %s leaves nothing half, and its error says why', async ([, command, why]) => {
  const failing = engineThat(({ run }) => run(command));

  await expect(fetchEngine(failing, options())).rejects.toThrow(why);
  expect((await readdir(cache)).filter((name) => name !== 'downloads')).toEqual([]);
});

test('a fetch that takes too long is ended with all that it started', async () => {
  const pidFile = join(cache, 'pid');
  const slow = engineThat(({ run }) =>
    run(['sh', '-c', `sleep 600 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`]),
  );
  const late = new AbortController();
  const fetched = fetchEngine(slow, options(late.signal));
  while (!existsSync(pidFile)) await new Promise((resolve) => setTimeout(resolve, 20));

  late.abort(new Error('too long'));

  await expect(fetched).rejects.toThrow('too long');
  const state = spawnSync('ps', ['-o', 'stat=', '-p', await readFile(pidFile, 'utf8')]).stdout.toString();
  // Gone, or dead and not yet collected by its new parent.
  expect(state).toMatch(/^(Z.*)?\s*$/);
  expect(existsSync(join(cache, 'an-engine-1.0'))).toBe(false);
  expect(existsSync(join(cache, 'an-engine-1.0.partial'))).toBe(false);
});
