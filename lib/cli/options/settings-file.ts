import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { nearestName } from '../../base/index.ts';
import { homeFolder, pathOf } from '../../locations.ts';
import { type Environment, settingNames, tidied } from '../../settings.ts';
import { errorCode } from '../../store/index.ts';
import { readWholeText } from '../../text/index.ts';
import { fileError, oneGiven, UsageError } from '../errors/usage-error.ts';

/**
 * Adds the settings of the file in `--env-file` or `--profile` to the environment. Variables of the environment take
 * precedence unless they are empty. Throws `UsageError` if the file cannot be read, or has settings that do not
 * exist. An error never shows a value.
 */
export async function withSettingsFile(
  {
    envFile,
    profile,
  }: {
    readonly envFile?: string;
    readonly profile?: string;
    /** Whether `--new-ledger` was given; not used here. */
    readonly newLedger?: true;
  },
  environment: Environment,
): Promise<Environment> {
  oneGiven({ '--env-file': envFile, '--profile': profile });
  const given =
    envFile !== undefined
      ? await settingsIn([resolve(pathOf('--env-file', envFile, environment))], '--env-file')
      : profile !== undefined
        ? await settingsIn(profileFiles(profile, environment), `--profile ${profile}`)
        : {};
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '');
  return tidied({ ...given, ...Object.fromEntries(set) });
}

/** Settings that AWS clients and the network read. */
const FOREIGN_SETTINGS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_CA_BUNDLE',
  'AWS_DEFAULT_REGION',
  'AWS_ENDPOINT_URL',
  'AWS_PROFILE',
  'AWS_REGION',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'HTTPS_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'NO_PROXY',
] as const;

const KNOWN_SETTINGS: readonly string[] = [...settingNames, ...FOREIGN_SETTINGS];

/** The fault of a name that resembles a setting; undefined if it is a setting, or belongs to another program. */
function nameFault(name: string): string | undefined {
  const written = name.toUpperCase();
  const isOurs = /^(PLATFORM|SYNC)_/.test(written);
  if (KNOWN_SETTINGS.includes(isOurs ? name : written)) return undefined;
  const meant = nearestName(written, KNOWN_SETTINGS);
  // Names that are only the beginning of a setting's name, and endpoints of other AWS services, belong to other
  // programs.
  const isOther = meant === undefined || meant.startsWith(written) || /^AWS_ENDPOINT_URL_/.test(written);
  if (!isOurs && isOther) return undefined;
  return `${name}: ${meant === undefined ? 'there is no setting with this name' : `did you mean ${meant}?`}`;
}

const isSetting = (name: string): boolean =>
  KNOWN_SETTINGS.includes(name) || /^(AWS_|(all|https|no)_proxy$)/i.test(name);

/** Matches one of our settings with an unquoted value that Node would cut off at a # within a word. */
const CUT =
  /^[ \t]*(?:export[ \t]+)?((?:PLATFORM|SYNC)_\w+)[ \t]*=[ \t]*[^\s"'`#][^\n#]*[^\s#]?(?<=[^\s#])#/m;

/** Reads the settings in the first of `files` that exists. */
async function settingsIn(files: readonly string[], flag: string): Promise<Environment> {
  for (const file of files) {
    const bytes = await readFile(file).catch((error: unknown) => {
      if (files.length > 1 && errorCode(error) === 'ENOENT') return undefined;
      throw fileError(`${flag}: ${file}`, 'a file with settings', error);
    });
    if (bytes === undefined) continue;
    const text = await readWholeText(bytes, { name: file });
    const given = parseEnv(text);
    const names = Object.keys(given);
    const cut = CUT.exec(text)?.[1] ?? names.find((name) => /^["'`]/.test(given[name] ?? ''));
    if (cut !== undefined)
      throw fileError(
        file,
        `quotes around the whole value of ${cut}, which has a # or a quote in it`,
        'none',
      );
    const unknown = names.flatMap((name) => nameFault(name) ?? []);
    if (unknown.length > 0) throw fileError(file, 'settings', unknown.join('; '));
    if (!names.some(isSetting))
      throw fileError(`${flag}: ${file}`, 'settings, such as PLATFORM_TOKEN=…', 'none');
    return given;
  }
  const none = files.length === 1 ? 'this file does not exist' : 'none of these files exists';
  throw new UsageError(`${flag}: ${none}:\n  ${files.join('\n  ')}`);
}

/** Matches a profile's name. Paths are not allowed: `--env-file` takes a path. */
const PROFILE_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** The name of the file that `--profile` reads. */
export const profileFile = (name: string): string => `platform-sync.${name}.env`;

/** The paths where a profile may be; the first file that exists is read. */
function profileFiles(
  name: string,
  { XDG_CONFIG_HOME: config, APPDATA, HOME }: Environment,
): readonly string[] {
  if (!PROFILE_NAME.test(name))
    throw new UsageError(
      `--profile: expected a name of letters, digits, _, . and -, got ${JSON.stringify(name)}`,
    );
  const file = profileFile(name);
  const folder = config || APPDATA || join(homeFolder({ HOME }, 'or XDG_CONFIG_HOME'), '.config');
  return [resolve(file), join(folder, 'platform-sync', file)];
}
