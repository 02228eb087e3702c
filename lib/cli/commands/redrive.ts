import type { MovedDeadLetters, Redriven } from '../../jobs/redrive.ts';
import { readSyncSettings, type SyncSettings } from '../../settings.ts';
import type { AddCommand } from '../command.ts';
import { openStoreOf } from '../open-store-of.ts';
import { settingFor } from '../setting-for.ts';
import { exitCodes, shownLines, type Terminal } from '../terminal.ts';

type RedriveFlags = { readonly json?: true };

/** `redrive [ID...]`: reopens failed jobs and moves dead letters back. Does not need the platform. */
export const addRedrive: AddCommand = (program, terminal, finish) => {
  program
    .command('redrive')
    .description(
      'Reopen failed jobs, never unknown ones; without ids, also move dead letters back to the queue.',
    )
    .argument('[id...]', 'the ids of the jobs (default: all failed jobs)')
    .option('--json', 'print what happened to them as one JSON value')
    .action(async (ids: readonly string[], flags: RedriveFlags) =>
      finish(await redrive(ids, flags, terminal)),
    );
};

async function redrive(
  given: readonly string[],
  { json }: RedriveFlags,
  terminal: Terminal,
): Promise<number> {
  const { environment, signal } = terminal;
  const settings = readSyncSettings(environment);
  const tableName = settingFor('redrive', settings, 'SYNC_TABLE');
  const queueUrl = settingFor('redrive', settings, 'SYNC_QUEUE_URL');
  const { checkedJobIds, openLedger, openQueue } = await import('../open-jobs.ts');
  const { redriveFailed } = await import('../../jobs/redrive.ts');
  const ids = checkedJobIds(given);
  const [store, ledger, queue] = await Promise.all([
    openStoreOf(environment),
    openLedger(tableName, environment),
    openQueue(queueUrl, environment),
  ]);
  const redriven = await redriveFailed(ids, { store, ledger, queue, signal });
  const isAll = ids.length === 0;
  const dead = isAll ? await moveBack(settings, queue, terminal) : null;
  const unknown = isAll
    ? await unknownIds(ledger)
    : redriven.left.filter(({ state }) => state === 'UNKNOWN').map(({ id }) => id);
  const notSent = [...redriven.notSent, ...(dead?.notMoved ?? [])];
  const report: Report = {
    ...redriven,
    notSent,
    unknown,
    movedBack: dead?.moved ?? null,
    held: dead?.held ?? null,
  };
  terminal.out(json ? JSON.stringify(report, undefined, 2) : shownLines(describe(report)));
  return notSent.length === 0 && !report.held && (isAll || redriven.left.length === 0)
    ? exitCodes.done
    : exitCodes.incomplete;
}

/** The dead letters that were moved; null if no dead-letter queue is set. */
async function moveBack(
  { SYNC_DEAD_LETTER_URL: url }: SyncSettings,
  queue: { readonly send: (bodies: readonly string[]) => Promise<void> },
  { environment, signal, polls }: Terminal,
): Promise<MovedDeadLetters | null> {
  if (url === undefined) return null;
  const { openQueue } = await import('../open-jobs.ts');
  const { moveDeadLetters } = await import('../../jobs/redrive.ts');
  return moveDeadLetters({ from: await openQueue(url, environment), to: queue, polls, signal });
}

async function unknownIds(ledger: {
  readonly list: () => AsyncIterable<{ readonly id: string; readonly state: string }>;
}): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, state } of ledger.list()) if (state === 'UNKNOWN') ids.push(id);
  return ids.sort();
}

type Report = Redriven & {
  readonly unknown: readonly string[];
  readonly movedBack: number | null;
  readonly held: number | null;
};

/** The most ids of a kind that are listed; `--json` lists all. */
const NAMED = 20;

function describe({ opened, left, notSent, unknown, movedBack, held }: Report): string {
  const others = left.filter(({ state }) => state !== 'UNKNOWN').map(({ id, state }) => `${id} (${state})`);
  return [
    `reopened: ${opened.length}`,
    ...named(opened),
    ...(movedBack === null ? [] : [`dead letters moved back: ${movedBack}`]),
    ...(held ? [`dead letters that somebody else holds, most likely: ${held}`] : []),
    ...(others.length === 0 ? [] : [`left unchanged: ${others.length}`, ...named(others)]),
    ...(notSent.length === 0
      ? []
      : [
          `could not be sent, so the next redrive tries them again: ${notSent.length}`,
          ...named(notSent.map(({ id, error }) => `${id} (${error})`)),
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `unknown, never reopened: ${unknown.length}; each may have been executed, so a person must check it`,
          ...named(unknown),
        ]),
  ].join('\n');
}

const named = (ids: readonly string[]) => [
  ...ids.slice(0, NAMED).map((id) => `  ${id}`),
  ...(ids.length > NAMED ? [`  and ${ids.length - NAMED} more`] : []),
];
