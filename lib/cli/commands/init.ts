import { execFile } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import type { SettingName } from '../../contract.ts';
import { DEFAULT_STORE } from '../../locations.ts';

import type { FlagsOf, Run } from '../command.ts';
import type { CheckName } from '../doctor/checks.ts';
import { fileError, UsageError } from '../errors/usage-error.ts';
import { commandLine } from '../options/command-lines.ts';
import { profileFile } from '../options/settings-file.ts';
import { createQuestions } from '../terminal/questions.ts';
import { type ExitStatus, shownLines, type Terminal } from '../terminal/terminal.ts';
import { examine } from './doctor.ts';

type Chosen = Readonly<Partial<Record<SettingName, string>>>;

export default ((_, flags, terminal) => init(flags, terminal, process.cwd())) satisfies Run<'init'>;

/**
 * Asks for the address and the token of a platform and for the store, tests them, and writes them to a settings file
 * in the folder. Without a terminal it prints which settings to set. Throws `UsageError` if the file exists.
 */
export async function init(flags: FlagsOf<'init'>, terminal: Terminal, folder: string): Promise<ExitStatus> {
  if (flags.sandbox) return finish('sandbox', await sandboxSettings(), folder, terminal);
  if (terminal.dialog === undefined) {
    terminal.out(WHAT_TO_SET);
    return 'usage';
  }
  using questions = createQuestions(terminal.dialog, terminal.signal);
  const reached = await askPlatform(questions, folder, terminal);
  if (reached === undefined) return 'stopped';
  const SYNC_STORE = await askStore(questions, reached.settings, terminal);
  if (SYNC_STORE === undefined) return 'stopped';
  return finish(reached.profile, { ...reached.settings, SYNC_STORE }, folder, terminal);
}

const WHAT_TO_SET = `init needs a terminal to ask its questions. Set these instead, in the environment or in a file for --env-file:
PLATFORM_BASE_URL=https://acme.example.com   # the address of the instance
PLATFORM_TOKEN=…                             # a developer token
PLATFORM_TOKEN_HEADER=…                      # only if the instance accepts it in another header
SYNC_STORE=${DEFAULT_STORE}              # a folder, or s3://bucket/prefix
then: ${commandLine(['doctor'])}`;

/** Asks until the platform accepts the address, the token and its header. Undefined after Ctrl-C or Ctrl-D. */
async function askPlatform(
  questions: ReturnType<typeof createQuestions>,
  folder: string,
  terminal: Terminal,
) {
  let address: string | undefined;
  let header: string | undefined;
  for (;;) {
    address = await questions.ask('Address of the platform, such as https://acme.example.com', address);
    if (address === undefined) return undefined;
    const profile = URL.canParse(address) ? new URL(address).hostname.replace(/^\W+|[.:\]].*$/g, '') : '';
    if (profile !== '') await refuseIfThere(profile, folder);
    const token = await questions.ask('Developer token (not shown)', undefined, { isHidden: true });
    if (token === undefined) return undefined;
    const settings: Chosen = {
      PLATFORM_BASE_URL: address.replace(/\/$/, ''),
      PLATFORM_TOKEN: token,
      ...(header === undefined ? {} : { PLATFORM_TOKEN_HEADER: header }),
    };
    const failed = await runChecks(settings, ['host', 'token'], terminal);
    if (failed === undefined) return { profile, settings };
    if (failed !== 'token') continue;
    header = await questions.ask('The header that carries the token', header ?? DEFAULT_HEADER);
    if (header === undefined) return undefined;
  }
}

const DEFAULT_HEADER = 'X-SERVICE-Developer-Token';

async function askStore(questions: ReturnType<typeof createQuestions>, settings: Chosen, terminal: Terminal) {
  let store: string | undefined = DEFAULT_STORE;
  do {
    store = await questions.ask('Where to store: a folder, or s3://bucket/prefix', store);
  } while (
    store !== undefined &&
    (await runChecks({ ...settings, SYNC_STORE: store }, ['bucket'], terminal)) !== undefined
  );
  return store;
}

/** Runs checks of `doctor`, and prints their findings. Returns the first check that failed; undefined if none did. */
async function runChecks(
  settings: Chosen,
  names: readonly CheckName[],
  terminal: Terminal,
): Promise<'settings' | CheckName | undefined> {
  const environment = { ...withoutAnswers(terminal.environment), ...settings };
  const checked = await examine({ ...terminal, environment }, () => undefined, names);
  const fault = checked.find(({ status }) => status === 'failed');
  for (const { name, detail, status, ...more } of checked)
    if (name !== 'settings' || status === 'failed')
      terminal.err(shownLines(`  ${name}: ${detail}${'advice' in more ? ` → ${more.advice}` : ''}`));
  return fault?.name;
}

/** The environment without variables that would override the user's answers. */
const withoutAnswers = (environment: Terminal['environment']) =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^PLATFORM_|^SYNC_(STORE|TABLE|QUEUE)/.test(name)),
  );

/** The settings for the sandbox on a port that is free now. `sandbox` reads the port from them. */
async function sandboxSettings(): Promise<Chosen> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return {
    PLATFORM_BASE_URL: `http://127.0.0.1:${port}`,
    PLATFORM_TOKEN: 'sandbox-token',
    PLATFORM_RATE: '50',
    SYNC_STORE: './platform-sync-sandbox',
  };
}

async function refuseIfThere(profile: string, folder: string): Promise<void> {
  const file = profileFile(profile);
  if ((await readFile(join(folder, file)).catch(() => undefined)) === undefined) return;
  throw new UsageError(`${file} exists already: use it with --profile ${profile}, or delete it first`);
}

/** Writes the file, and prints what to do next. */
async function finish(
  profile: string,
  settings: Chosen,
  folder: string,
  terminal: Terminal,
): Promise<ExitStatus> {
  const file = profileFile(profile);
  await refuseIfThere(profile, folder);
  const text = Object.entries(settings)
    .map(([name, value]) => `${name}=${quotedValue(value)}\n`)
    .join('');
  await writeFile(join(folder, file), text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    throw fileError(join(folder, file), 'a file in a folder that can be written', error);
  });
  const isIgnored = await keepOutOfGit(file, folder);
  const next = (words: readonly string[], options = {}) => `  ${commandLine(words, { ...options, profile })}`;
  terminal.out(
    [
      `Wrote ${file}, which only you can read${isIgnored ? ' and git ignores' : ''}. Next:`,
      profile === 'sandbox' ? `${next(['sandbox'])}   # in another terminal` : next(['doctor']),
      next(['snapshot', 'calculations']),
      next(['report'], { open: true }),
    ].join('\n'),
  );
  return 'done';
}

/** Quotes a value for a settings file. */
function quotedValue(value: string): string {
  const found = ["'", '"', '`']
    .map((quote) => `${quote}${value}${quote}`)
    .find((text) => parseEnv(`A=${text}`)['A'] === value);
  if (found === undefined)
    throw new UsageError('a value that has all three of \' " and ` cannot be written to a settings file');
  return found;
}

const run = promisify(execFile);

/**
 * Makes git ignore the file: unless the project does already, adds it to the clone's `info/exclude`. Returns whether
 * git ignores the file.
 */
async function keepOutOfGit(file: string, folder: string): Promise<boolean> {
  const git = async (...words: readonly string[]) =>
    (await run('git', ['-C', folder, ...words])).stdout.trim();
  try {
    await git('check-ignore', '--quiet', file);
    return true;
  } catch (error) {
    // Code 1 means that it is not ignored. With any other code this is not a clone, or git is not installed.
    if ((error as { readonly code?: unknown }).code !== 1) return false;
  }
  const list = await git('rev-parse', '--git-path', 'info/exclude');
  await appendFile(isAbsolute(list) ? list : join(folder, list), `\n${profileFile('*')}\n`);
  return true;
}
