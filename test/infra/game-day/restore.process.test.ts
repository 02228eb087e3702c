import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adds } from '../../cli/start-jobs.ts';
import { blocksOf, textOf } from '../../docs/blocks.ts';
import { linesOf, parseLine } from '../../docs/shell.ts';
import { synthStack } from '../../local-aws/stack/synth-stack.ts';
import { readStack, type StackToRun } from '../../local-aws/stack/template.ts';
import { runAws } from './run-aws.ts';
import { BASE_URL, type Day, startDay } from './start-day.ts';
import { createTableBackups } from './table-backups.ts';

/*
 * Follows docs/restore.md to its end, with the commands as they are on the page, after the table was deleted. No local
 * service has backups, so the test creates and restores them as AWS documents it.
 */

const PAGE = 'docs/restore.md';

const running = new AsyncDisposableStack();
let deployed: StackToRun;

beforeAll(async () => {
  const instance = { name: 'deployed', baseUrl: BASE_URL, tokenParameter: '/deployed/token', rate: 2_000 };
  deployed = await readStack(running.use(await synthStack(instance)).folder);
}, 120_000);

afterAll(() => running.disposeAsync());

/** The commands of a section. */
function commandsIn(heading: string): readonly string[] {
  const [, text = ''] = textOf(PAGE).split(`\n## ${heading}\n`);
  return blocksOf(PAGE, text.split(/^## /m)[0] ?? '').flatMap((block) => linesOf(block.text));
}

/** Runs a command of the page. Returns what it printed. */
async function follow(
  line: string,
  { place, owner, run }: Day,
  backups: ReturnType<typeof createTableBackups>,
  given: Readonly<Record<string, string>>,
): Promise<string> {
  const filled = line.replaceAll(
    /\$([A-Z_]+)/g,
    (match, name) => given[name] ?? place.environment[name] ?? match,
  );
  expect(filled).not.toContain('$');
  const [{ words } = { words: [] }] = parseLine(filled).stages;
  return words[0] === 'aws' ? runAws(words, owner, backups.run) : run(filled);
}

const isDone = async (day: Day, id: string) =>
  day.until(async () => {
    const done: readonly { readonly id: string }[] = await day.printed('jobs --status done');
    return done.some((each) => each.id === id);
  }, `${id} to be done`);

test('a deleted table is restored under its name, and jobs continue where they were, none of them twice', async () => {
  await using day = await startDay(deployed);
  using backups = createTableBackups(day.owner.environment);
  const table = day.place.environment['SYNC_TABLE'] ?? '';
  const sent = () => day.platform().counts().executions.length;
  await day.work(adds('before'));
  await isDone(day, 'before');
  await day.rest();
  const once = sent();

  await backups.delete(table);
  await day.work(adds('before'), adds('meanwhile'));
  await delay(2_000);
  expect(sent()).toBe(once);

  const commands = commandsIn('The table is gone');
  expect(commands.length).toBeGreaterThan(6);
  let listed = '{}';
  for (const line of commands) {
    const [backup] = (JSON.parse(listed).BackupSummaries ?? []).filter(
      ({ BackupName }: { readonly BackupName: string }) => BackupName === `${table}$DeletedTableBackup`,
    );
    const printed = await follow(line, day, backups, { BACKUP_ARN: backup?.BackupArn ?? '' });
    if (line.includes('list-backups')) listed = printed;
  }

  // The earlier messages would be delivered again after their visibility timeout of seven minutes. These are the same jobs.
  await day.work(adds('before'), adds('meanwhile'));
  await isDone(day, 'meanwhile');
  expect(sent()).toBe(once + 1);
  expect(backups.turnedOn[table]).toEqual([
    { Enabled: true, AttributeName: 'expires' },
    { PointInTimeRecoveryEnabled: true },
    { DeletionProtectionEnabled: true },
  ]);
});

test('the commands that restore a damaged table use operations and options that AWS has', async () => {
  await using day = await startDay(deployed);
  using backups = createTableBackups(day.owner.environment);
  await day.work(adds('before'));
  await isDone(day, 'before');
  await day.rest();

  await day.run('npx platform-sync pace --pause');
  const given = { NEW: 'restored', TIME: '2026-11-29T12:00:00Z' };
  for (const line of commandsIn('Restore from a point in time')) await follow(line, day, backups, given);
  // The deployment would grant people and functions access to the new table. Here the account's owner has every right.
  const environment = { ...day.owner.environment, SYNC_TABLE: 'restored' };

  expect(backups.turnedOn['restored']).toHaveLength(3);
  Object.assign(day.place.environment, environment);
  await day.run('npx platform-sync pace --resume --new-ledger');
  expect(await day.printed('jobs --status done')).toContainEqual(expect.objectContaining({ id: 'before' }));
});
