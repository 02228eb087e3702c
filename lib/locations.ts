import { createHash } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as z from 'zod/mini';
import { checkedBy, errorText, faultsOf } from './base/index.ts';
import { parseJson } from './base/json/index.ts';

/** Thrown for invalid settings. Every fault is listed with the variable's name; values of secrets are not shown. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`wrong settings:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** Parses a setting that is JSON. Throws `SettingsError` with every fault, each with its path in the value. */
export function jsonSetting<T>(name: string, text: string, schema: z.ZodMiniType<T>): T {
  const given = jsonIn(name, text);
  const parsed = checkedBy(schema, given);
  if (parsed.success) return parsed.data;
  throw new SettingsError(
    faultsOf(parsed.error, given, { describePath: (path) => [name, ...path].join('.') }),
  );
}

function jsonIn(name: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new SettingsError([`${name}: expected JSON, got invalid JSON (${text.length} characters)`]);
  }
}

type Home = { readonly HOME?: string | undefined };

type Locations = Home &
  Readonly<
    Partial<
      Record<
        'SYNC_STORE' | 'SYNC_TABLE' | 'SYNC_QUEUE_URL' | 'SYNC_DEAD_LETTER_URL' | 'XDG_STATE_HOME',
        string
      >
    >
  >;

/** The path in `sqlite:FILE`; undefined for the name of a DynamoDB table or the URL of a queue. */
export const sqlitePath = (location: string): string | undefined => /^sqlite:(.*)/s.exec(location)?.[1];

const fileIn = (location = '') => (sqlitePath(location) === undefined ? undefined : location);

/** The folder for a directory store's locks and temporary files; no key begins with it. */
export const RESERVED_FOLDER = '.store';

/** The store if SYNC_STORE is not set. */
export const DEFAULT_STORE = './platform-sync-data';

/**
 * The location of the store: an address in S3 or a folder. Throws `SettingsError` if `~` is used and there is no home
 * folder.
 */
export const storeLocation = (given: Locations): string =>
  pathOf('SYNC_STORE', given.SYNC_STORE || DEFAULT_STORE, given);

/**
 * Replaces `~` at the beginning of a path with the home folder. A shell does that only at the beginning of a word, and
 * never in a settings file. Throws `SettingsError` for another user's home folder, which only a shell knows.
 */
export function pathOf(name: string, path: string, given: Home): string {
  const unresolved = UNRESOLVED.exec(path)?.[0];
  if (unresolved !== undefined)
    throw new SettingsError([
      `${name}: expected a path, got ${JSON.stringify(path)}: ${JSON.stringify(unresolved)} is not expanded here. For a folder of that name, write ${JSON.stringify(`./${path}`)}`,
    ]);
  const [, of, rest = ''] = /^~([^/\\]*)(.*)$/s.exec(path) ?? [];
  if (of === undefined) return path;
  if (of !== '')
    throw new SettingsError([`${name}: expected a path, or ~/ for the home folder, got "~${of}"`]);
  return join(homeFolder(given, `or write ${name} without ~`), rest);
}

/**
 * Matches variables that a shell would replace and, except on Windows, Windows paths, which would be names of
 * folders.
 */
const UNRESOLVED =
  process.platform === 'win32'
    ? /^\$\w+|^\$\{\w+\}|^%\w+%/
    : /^\$\w+|^\$\{\w+\}|^%\w+%|^[A-Za-z]:[\\/]|^\\\\/;

/**
 * The user's home folder. Throws `SettingsError` without one, for example in a container whose user has no name.
 * `instead`: the alternative to setting HOME, for the error.
 */
export function homeFolder({ HOME }: Home, instead: string): string {
  const home = HOME || systemHome();
  if (home) return home;
  throw new SettingsError([
    `HOME: expected the user’s home folder, got nothing, also from the operating system: set HOME, ${instead}`,
  ]);
}

function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/**
 * Creates a folder for temporary files that only this user can read, and returns its path. It is created in TMPDIR.
 * Throws `SettingsError` if it cannot be created.
 */
export async function createTemporaryFolder(purpose: string, folder = tmpdir()): Promise<string> {
  try {
    return await mkdtemp(join(folder, `platform-sync-${purpose}-`));
  } catch (error) {
    throw new SettingsError([
      `TMPDIR: expected a folder in which files can be created, got ${errorText(error)}`,
    ]);
  }
}

/**
 * Fills in the locations that are not set. The table is a file in the store, or for a store in S3 a file on this host.
 * The queues are in the table's file. With a queue in SQS, the table has no default, since other workers on that queue
 * would not share the file. Throws `SettingsError` if a default needs a home folder that the user does not have.
 */
export function withDefaultLocations(set: Locations): Locations {
  const store = storeLocation(set);
  const files = ['SYNC_TABLE', 'SYNC_QUEUE_URL', 'SYNC_DEAD_LETTER_URL'] as const;
  const written = files.flatMap((name) => {
    const path = sqlitePath(set[name] ?? '');
    return path === undefined ? [] : [[name, `sqlite:${pathOf(name, path, set)}`]];
  });
  const given: Locations = {
    ...set,
    ...(set.SYNC_STORE ? { SYNC_STORE: store } : {}),
    ...Object.fromEntries(written),
  };
  // An empty value counts as not set.
  const queue = given.SYNC_QUEUE_URL || undefined;
  const isSqs = queue !== fileIn(queue);
  const table = given.SYNC_TABLE || (isSqs ? undefined : `sqlite:${fileOf(store, given)}`);
  const jobs = queue ?? fileIn(table);
  const dead = given.SYNC_DEAD_LETTER_URL || fileIn(jobs);
  return {
    ...given,
    ...(table === undefined ? {} : { SYNC_TABLE: table }),
    ...(jobs === undefined ? {} : { SYNC_QUEUE_URL: jobs }),
    ...(dead === undefined ? {} : { SYNC_DEAD_LETTER_URL: dead }),
  };
}

/** Warns if the table is a file that only commands on this host share, while other hosts may use the same store. */
export function warnOfUnsharedTable(given: Locations, err: (text: string) => void): void {
  if (given.SYNC_STORE?.startsWith('s3://') && !given.SYNC_TABLE && withDefaultLocations(given).SYNC_TABLE)
    err(UNSHARED_TABLE);
}

const UNSHARED_TABLE =
  'platform-sync: SYNC_TABLE is not set: sent jobs and paid texts are recorded in a file of this host, which other hosts do not share';

function fileOf(store: string, given: Locations): string {
  if (!store.startsWith('s3://')) return join(store, RESERVED_FOLDER, 'jobs.db');
  const name = createHash('sha256').update(store.replace(/\/$/, '')).digest('hex').slice(0, 16);
  return join(stateFolder(given), `${name}.db`);
}

/** The folder for the state of this user on this host, such as the query history. */
export function stateFolder(environment: Locations, platform: NodeJS.Platform = process.platform): string {
  const { XDG_STATE_HOME: given } = environment;
  const words = STATE_FOLDERS[platform] ?? ['.local', 'state'];
  const state = given || join(homeFolder(environment, 'or XDG_STATE_HOME, or SYNC_TABLE'), ...words);
  return join(state, 'platform-sync');
}

const STATE_FOLDERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['Library', 'Application Support'],
  win32: ['AppData', 'Local'],
};
