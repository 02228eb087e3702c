import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const small = { calculations: 100, datasets: 2, cards: 0, fileSets: 0, dataFiles: 0 };
const folder = folderOfEach();
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startPlatform(small);
});

afterEach(() => sandbox.close());

const run = (line: string, gates: object | string, input = '') =>
  runCommand(
    line.split(' '),
    {
      ...settingsOf(sandbox, folder.path),
      SYNC_GATES: typeof gates === 'string' ? gates : JSON.stringify(gates),
    },
    input,
  );

const SHRUNK = 'shrunk: fewer than 90% of the last run’s records (SYNC_GATES); the last run had 100 records';
const strict = { calculations: { shrunk: 0.9 } };

/** Publishes a run of 100 records, and restarts the platform with 85. */
async function shrinkAfterRun(): Promise<void> {
  await run('snapshot calculations', {});
  await sandbox.close();
  sandbox = await startPlatform({ ...small, calculations: 85 });
}

test('a gate of one place refuses its run in every command and prints the earlier sizes; without the gate the run is published', async () => {
  await shrinkAfterRun();

  const one = await run('snapshot calculations', strict);
  const all = await run('snapshot all --json', strict);
  const refused = JSON.parse(all.out)[0];
  const still = await run(`publish calculations ${refused.run}`, strict);
  const never = await run(`publish calculations ${refused.run} --json`, { calculations: { shrunk: null } });

  expect([one.code, all.code, still.code, never.code]).toEqual([3, 3, 3, 0]);
  expect(one.out).toContain(`\n  ${SHRUNK}\n  read: 85 records`);
  expect(refused).toMatchObject({ published: false, minShare: 0.9, lastSizes: [100] });
  expect(still.out).toContain(SHRUNK);
  expect(JSON.parse(never.out)).toMatchObject({ published: true, records: 85, refused: [], forced: false });
});

test('a gate of a place also refuses the snapshot of a job', async () => {
  await shrinkAfterRun();
  const job = { version: 1, type: 'snapshot', id: 'nightly', source: 'calculations' };

  await run('submit -', strict, JSON.stringify(job));
  await run('work --drain', strict);
  const { out } = await run('jobs nightly --json', strict);

  expect(out).toContain(`was refused publication: ${SHRUNK}; read: 85 records`);
});

test.each(['snapshot calculations', 'snapshot all', 'publish calculations 20261120T091500Z-3fa9c1'])(
  '%s with an invalid gate exits 2, says what was expected, and begins no run',
  async (line) => {
    const { code, err } = await run(line, { calculations: { shrunk: '80%' }, calcs: { shrunk: 0.8 } });

    expect(code).toBe(2);
    expect(err).toContain('SYNC_GATES.calculations.shrunk: expected a share of the last run’s records');
    expect(err).toContain('SYNC_GATES.calcs: expected');
    expect(await readdir(join(folder.path, 'work')).catch(() => [])).toEqual([]);
  },
);
