import { errorText, sleep } from '../../base/index.ts';
import { readAllow, readFollowers } from '../../jobs/types/index.ts';
import { operations } from '../../platform/http/index.ts';
import { openSession } from '../../session.ts';
import { readSettings, SettingsError, settingNames } from '../../settings.ts';
import { readGates } from '../../snapshot/sources/index.ts';
import type { Run } from '../command.ts';
import { type Check, type CheckName, checks, failed } from '../doctor/checks.ts';
import { remedyFor } from '../errors/explain.ts';
import { shownLines, type Terminal } from '../terminal/terminal.ts';

type Finding = Awaited<ReturnType<Check>>;

/** The name of a check, and its finding. */
type Checked = { readonly name: CheckName | 'settings' } & Finding;

/** Checks everything that the settings refer to, in order, and prints how to fix what is wrong. */
export default (async (_, { json }, terminal) => {
  const all = await examine(terminal, (checked) => {
    if (!json) terminal.out(shownLines(textOf(checked)));
  });
  const isWell = all.every(({ status }) => status !== 'failed');
  return { json: { well: isWell, checks: all }, words: [], ended: isWell ? 'done' : 'failed' };
}) satisfies Run<'doctor'>;

const WIDTH = 10;

function textOf(checked: Checked): string {
  const { name, status, detail } = checked;
  const indent = ' '.repeat(2 * WIDTH);
  const lines = detail.split('\n').join(`\n${indent}`);
  const advice =
    checked.status === 'failed' && checked.advice !== undefined ? `\n${indent}→ ${checked.advice}` : '';
  return `${name.padEnd(WIDTH)}${status.padEnd(WIDTH)}${lines}${advice}`;
}

/** The time limit of one check, in milliseconds. */
const CHECK_TIMEOUT_MS = 30_000;

/** Runs the named checks, by default all of them, and calls `onChecked` with each finding as soon as it is known. */
export async function examine(
  { environment, signal, err, screen }: Terminal,
  onChecked: (checked: Checked) => void,
  names = Object.keys(checks) as readonly CheckName[],
): Promise<readonly Checked[]> {
  const all: Checked[] = [];
  const add = (name: Checked['name'], finding: Finding) => {
    const checked = { name, ...finding };
    all.push(checked);
    onChecked(checked);
  };
  const settings = settingsOf(environment);
  add('settings', settings);
  // The finding says what is wrong, so nothing is logged.
  const withoutLog = { ...environment, LOG_LEVEL: 'silent' };
  const examined =
    settings.status === 'ok' ? contextOf({ environment: withoutLog, signal, err, screen }) : undefined;
  for (const name of names) {
    const { check, needs } = checks[name];
    const missing = ['settings', ...needs].find((need) =>
      all.some((each) => each.name === need && each.status !== 'ok'),
    );
    add(
      name,
      examined === undefined || missing !== undefined
        ? { status: 'skipped', detail: `needs ${missing ?? 'settings'}` }
        : await found(check, examined),
    );
  }
  return all;
}

function settingsOf(environment: Terminal['environment']): Finding {
  try {
    const { SYNC_ALLOW, SYNC_FOLLOWERS, SYNC_GATES } = readSettings(environment);
    readAllow(SYNC_ALLOW);
    readFollowers(SYNC_FOLLOWERS);
    readGates(SYNC_GATES);
    const set = settingNames.filter((name) => environment[name]).length;
    return { status: 'ok', detail: `${set} set; all others have their defaults` };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return failed(
      error.faults.join('\n'),
      'to enter them: platform-sync init; --env-file and --profile read them from a file',
    );
  }
}

function contextOf(
  terminal: Pick<Terminal, 'environment' | 'signal' | 'err' | 'screen'>,
): Parameters<Check>[0] {
  const { environment, signal } = terminal;
  const session = openSession(terminal);
  const call = session.callWith(FEW_RETRIES);
  // The platform is asked once, so all checks see the same response. A failure is cached as well.
  let reading: Promise<unknown> | undefined;
  const firstRead = () => {
    reading ??= operations(call).calculations.search(CHEAPEST_SEARCH, { signal });
    return reading;
  };
  const { settings } = session;
  return { environment, settings, session: { ...session, call }, firstRead, now: Date.now, signal };
}

const CHEAPEST_SEARCH = { sort: { field: 'id', ascending: true }, limit: 1 } as const;

/** Few retries, since a user is waiting and can run the command again. */
const FEW_RETRIES = { maxRetries: 1, budgetMs: 10_000 } as const;

async function found(check: Check, examined: Parameters<Check>[0]): Promise<Finding> {
  const { signal, environment } = examined;
  const ended = new AbortController();
  const late = sleep(CHECK_TIMEOUT_MS, AbortSignal.any([signal, ended.signal]));
  late.catch(() => undefined);
  try {
    const finding = await Promise.race([check(examined), late]);
    return (
      finding ??
      failed(`no result within ${CHECK_TIMEOUT_MS / 1_000} s`, 'try again, or find out what is slow')
    );
  } catch (error) {
    signal.throwIfAborted();
    return failed(errorText(error), remedyFor(error, environment));
  } finally {
    ended.abort();
  }
}
