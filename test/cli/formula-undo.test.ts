import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LEASES } from '../../lib/jobs/job-storage.ts';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { withDefaultLocations } from '../../lib/locations.ts';
import type { PlatformOptions } from '../../lib/sandbox/platform/options.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openTable } from '../../lib/table/open-table.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();

type Faults = NonNullable<PlatformOptions['plannedFaults']>;

/** Starts a platform, and writes the set `may`, which changes its first calculation from `SUM(1)` to `1`. */
async function start(plannedFaults: Faults = {}) {
  const small = { calculations: 60, datasets: 2, cards: 0, fileSets: 0, dataFiles: 0 };
  const sandbox = await startPlatform({ ...small, plannedFaults });
  const [text = ''] = sandbox.calculations();
  const { id: number, name } = JSON.parse(text) as { readonly id: number; readonly name: string };
  const id = String(number);
  const settings = settingsOf(sandbox, folder.path);
  const file = join(folder.path, 'changes.csv');
  await writeFile(file, `id,name,expression,was\n${id},"${name}",1,SUM(1)\n`);
  const run = (...argv: readonly string[]) => runCommand(argv, settings);
  return {
    sandbox,
    id,
    file,
    asked: { id: `may.${id}`, type: 'update-formula', contentHash: 'c', sender: 's' },
    run,
    apply: () => run('formula', 'apply', file, '--name', 'may'),
    undo: (...flags: readonly string[]) => run('formula', 'undo', 'may', ...flags),
    set: (formula: string) => runCommand(['formula', 'set', id, '-'], settings, formula),
    async log() {
      const { out } = await run('formula', 'log', id, '--json');
      return (JSON.parse(out) as { calculation: { expression: string } }[]).map(
        ({ calculation }) => calculation.expression,
      );
    },
    async ledger(now: () => number = Date.now) {
      const { SYNC_TABLE = '' } = withDefaultLocations(settings);
      return createLedger({ ...(await openTable(SYNC_TABLE, settings, { leases: LEASES })), now });
    },
    result: async () => {
      const files = await readdir(join(folder.path, 'results'), { recursive: true });
      const key = files.find((each) => each.endsWith(`may.${id}.json`)) ?? '';
      return JSON.parse(await readFile(join(folder.path, 'results', key), 'utf8')) as { status: string };
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

const RESOLVE = ['--note', 'its formula is 1 on the platform'] as const;

test('undo of an update whose response was lost says that the outcome is unknown, and restores it only with an option', async () => {
  await using it = await start({ 1: 'reset-after' });
  await it.apply();

  const undone = await it.undo();
  const anyway = await it.undo('--even-if-changed', it.id);
  const after = await it.undo();
  await it.set('1');
  const again = await it.undo('--even-if-changed', it.id);

  expect(undone.code).toBe(3);
  expect(undone.err).toMatch(
    /it is unknown whether its formula was set, since the response was lost: it was last changed at 20/,
  );
  expect(undone.err).toContain(`to undo the change anyway: --even-if-changed ${it.id}`);
  expect(undone.err).not.toContain('so it is unchanged');
  expect(anyway.out).toContain('1 done');
  expect(after.err).toContain('has not changed it since the previous update');
  expect(again.out).toContain('1 done');
  expect(await it.log()).toEqual(['SUM(1)', '1', 'SUM(1)']);
  expect(it.sandbox.counts().formulaUpdates).toEqual({ [it.id]: 4 });
});

test('undo of an update whose worker was killed after it was sent says that the outcome is unknown', async () => {
  await using it = await start();
  await it.run('formula', 'apply', it.file, '--name', 'may', '--submit');
  const ledger = await it.ledger(() => Date.now() - 3_600_000);
  await ledger.claim(it.asked, { leaseMs: 1_000, sends: true });

  const undone = await it.undo();

  expect(undone).toMatchObject({
    code: 3,
    err: expect.stringContaining('it is unknown whether its formula was set'),
  });
});

test('undo skips an update if the calculation’s times show that the platform never executed it', async () => {
  await using it = await start({ 2: 'reset-before' });
  await it.run('formula', 'apply', it.file, '--name', 'april');
  await writeFile(it.file, `id,expression,was\n${it.id},2,1\n`);
  await it.apply();

  const undone = await it.undo();

  expect(undone).toMatchObject({
    code: 3,
    err: expect.stringContaining('the platform has not changed it since the previous update'),
  });
});

test('undo names updates that were certainly not sent, or that are still waiting', async () => {
  await using it = await start();
  await it.run('formula', 'apply', it.file, '--name', 'may', '--submit');

  const never = await it.undo();
  const ledger = await it.ledger();
  await ledger.announce(it.asked);
  const waits = await it.undo();
  await ledger.claim(it.asked, { leaseMs: 60_000, sends: true });
  const underWay = await it.undo('--even-if-changed', it.id);

  expect(never.err).toContain('its formula was not set, so it is unchanged');
  expect(waits.err).toContain(
    `its update has not been sent yet; to cancel it: platform-sync jobs cancel may.${it.id}`,
  );
  expect(underWay.err).toContain('its update is in progress');
  expect(it.sandbox.counts().formulaUpdates).toEqual({});
});

test('`jobs resolve ID done` stores the formula that was sent, so that `formula undo` can revert it', async () => {
  await using it = await start({ 1: 'reset-after' });
  await it.apply();

  const resolved = await it.run('jobs', 'resolve', `may.${it.id}`, 'done', ...RESOLVE);
  const undone = await it.undo();

  expect(resolved.code).toBe(0);
  expect(undone).toMatchObject({
    code: 0,
    out: 'may: 1 formula: 1 done now, 0 failed, 0 unknown, 0 left; 0 had ended before',
  });
  expect(await it.log()).toEqual(['1', 'SUM(1)']);
});

test('resolve failed records a person’s statement that nothing was set', async () => {
  await using it = await start({ 1: 'reset-before' });
  await it.apply();
  await it.run('jobs', 'resolve', `may.${it.id}`, 'failed', ...RESOLVE);

  const undone = await it.undo();

  expect(undone.err).toContain('its formula was not set, so it is unchanged');
});

test('undo reverts a formula that a worker set before it was killed, although the log lacks it', async () => {
  await using it = await start();
  await it.apply();
  await rm(join(folder.path, 'formulas', it.id), { recursive: true });

  const undone = await it.undo();

  expect(undone.out).toContain('1 done');
  expect(await it.log()).toEqual(['1', 'SUM(1)']);
});

test('undo does not confuse this update with an earlier one that set an equal formula', async () => {
  await using it = await start({ 3: 'reset-after' });
  await it.run('formula', 'apply', it.file, '--name', 'april');
  await it.run('formula', 'undo', 'april', '--even-if-changed', it.id);
  await it.apply();

  const undone = await it.undo();

  expect(undone.err).not.toContain('is already undone');
  expect(undone.err).toContain('it is unknown whether its formula was set');
});

test('each undo of a formula that was set again reverts it, with a new job', async () => {
  await using it = await start();
  await it.apply();
  const flags = ['--even-if-changed', it.id] as const;

  const first = await it.undo(...flags);
  await it.set('1');
  const second = await it.undo(...flags);
  await it.set('1');
  const third = await it.undo();

  for (const { out } of [first, second, third]) expect(out).toContain('1 done');
  expect(it.sandbox.counts().formulaUpdates).toEqual({ [it.id]: 6 });
});

test.each([
  ['jobs resolve, whatever its note', ['jobs', 'resolve', '{job}', 'done', '--note', 'other words']],
  ['jobs resolve with another outcome', ['jobs', 'resolve', '{job}', 'failed', '--note', 'other words']],
  ['the same apply', ['formula', 'apply', '{file}', '--name', 'may']],
  ['redrive', ['redrive']],
  ['a delivery of its message', ['work', '--drain']],
])('%s completes a jobs resolve that was killed', async (_, words) => {
  await using it = await start({ 1: 'reset-after' });
  await it.apply();
  const job = `may.${it.id}`;
  if (words[0] === 'work') await it.run('formula', 'apply', it.file, '--name', 'may', '--submit');
  await (await it.ledger()).resolve(job, { status: 'done', note: 'it is set' });
  const before = await it.result();
  const shown = JSON.parse((await it.run('jobs', job)).out);

  await it.run(...words.map((word) => word.replace('{job}', job).replace('{file}', it.file)));

  expect(before.status).toBe('unknown');
  expect(shown).toMatchObject({ status: 'done' });
  expect(await it.result()).toMatchObject({ status: 'done', note: 'it is set' });
  expect(await it.log()).toEqual(['1']);
  expect(it.sandbox.counts().formulaUpdates).toEqual({ [it.id]: 1 });
});
