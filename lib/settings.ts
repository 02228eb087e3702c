import * as z from 'zod/mini';
import { networkFaults } from './base/aws/index.ts';
import { hideUser, preview } from './base/index.ts';
import { parseJson } from './base/json/index.ts';
import { DEFAULT_STORE, SettingsError, withDefaultLocations } from './locations.ts';
import { pricesSchema } from './prices.ts';

export { SettingsError };

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Partial<Record<string, string>>>;

/** The validated settings of a process, with one field for each variable. Times are in milliseconds, sizes in bytes. */
export type Settings = z.infer<typeof settingsSchema>;

/** The settings of the store, table and queues, and of the jobs that are allowed. */
type SyncSettings = z.infer<typeof syncSchema>;

/** The settings that identify the budget of a fleet. */
type PaceSettings = z.infer<typeof paceSchema>;

/** Reads all settings. An empty variable counts as absent. Throws one `SettingsError` with all faults. */
export const readSettings = (environment: Environment): Settings =>
  read(settingsSchema, environment, [tokenFaults, storeFaults, networkFaults]);

/** Reads the settings of the store, table and queues, for callers without a platform. Throws like `readSettings`. */
export const readSyncSettings = (environment: Environment): SyncSettings =>
  read(syncSchema, environment, [storeFaults, networkFaults]);

/** Reads the settings of the fleet's budget, for callers without a token. Throws like `readSettings`. */
export const readPaceSettings = (environment: Environment): PaceSettings =>
  read(paceSchema, environment, [networkFaults]);

/**
 * The environment with platform-sync's settings trimmed: without white space around a value, which comes from pasting or from a
 * file, and without quotes, which Docker's `--env-file` keeps. No valid value begins or ends with these.
 */
export const tidied = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value = '']) => {
      if (!OURS.test(name)) return [name, value];
      const text = value.trim();
      return [name, /^(["'])(.*)\1$/s.exec(text)?.[2]?.trim() ?? text];
    }),
  );

const OURS = /^(PLATFORM|SYNC)_|^LOG_LEVEL$/;

type Check = (given: Environment) => readonly string[];

function read<T>(schema: z.ZodMiniType<T>, environment: Environment, checks: readonly Check[]): T {
  const set = Object.fromEntries(Object.entries(tidied(environment)).filter(([, value]) => value !== ''));
  const located = locationsIn(set);
  const given: Environment = { ...set, ...located.locations };
  const parsed = schema.safeParse(given);
  const faults = [
    ...located.faults,
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => fault(issue, given))),
    ...checks.flatMap((check) => check(given)),
  ];
  if (!parsed.success || faults.length > 0) throw new SettingsError(faults);
  return parsed.data;
}

function locationsIn(set: Environment) {
  try {
    return { locations: withDefaultLocations(set), faults: [] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { locations: {}, faults: error.faults };
  }
}

/** The value of a setting that only some callers require. Throws `SettingsError` if it is absent. */
export function needed<Given extends Partial<Settings>, Name extends keyof Settings & keyof Given>(
  settings: Given,
  name: Name,
): Exclude<Given[Name], undefined> {
  const value = settings[name];
  if (value === undefined) throw new SettingsError([`${name}: required for this, got nothing`]);
  return value as Exclude<Given[Name], undefined>;
}

/**
 * Settings whose values errors never show. PLATFORM_TOKEN_HEADER may be set to a token by mistake, so its value is
 * shown only if it is the name of a common header.
 */
const SECRET: Readonly<Partial<Record<SettingName, (value: string) => boolean>>> = {
  PLATFORM_TOKEN: () => true,
  SYNC_DIGEST_URL: () => true,
  PLATFORM_TOKEN_HEADER: (value) => !OTHER_HEADERS.test(value),
};

function fault(issue: z.core.$ZodIssue, given: Environment): string {
  const name = String(issue.path[0]) as SettingName;
  const value = given[name];
  const got =
    value !== undefined && SECRET[name]?.(value)
      ? `${value.length} characters (not shown)`
      : preview(issue.path.length > 1 ? memberAt(value, issue.path) : value, hideUser);
  return `${issue.path.join('.')}: expected ${issue.message}, got ${got}`;
}

/** The value at a path within a setting that is JSON; undefined if it does not exist. */
const memberAt = (text = '', [, ...path]: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, name) => Object(value)[name], jsonIn(text));

function tokenFaults(given: Environment): readonly string[] {
  const names = ['PLATFORM_TOKEN', 'PLATFORM_TOKEN_SECRET'] as const satisfies readonly SettingName[];
  const set = names.filter((name) => given[name] !== undefined);
  return set.length === 1
    ? []
    : [`${names.join(' or ')}: expected one of the two, got ${set.length === 0 ? 'neither' : 'both'}`];
}

/** The faults of settings that need a store in S3: Glue reads objects in S3, and a directory is not encrypted. */
function storeFaults(given: Environment): readonly string[] {
  const { SYNC_STORE: store } = given;
  const names = ['SYNC_GLUE_DATABASE', 'SYNC_ENCRYPTION'] as const satisfies readonly SettingName[];
  return names
    .filter((name) => given[name] !== undefined && !store?.startsWith('s3://'))
    .map((name) => `${name}: expected SYNC_STORE to be in S3, got ${preview(store, hideUser)}`);
}

const number = (min: number, max: number, byDefault: number, whole = true) =>
  z.pipe(z._default(numberText(min, max, whole), String(byDefault)), z.transform(Number));

/** Schema of one of `words`, in upper or lower case. */
const word = <const Word extends string>(words: readonly Word[], byDefault: NoInfer<Word>) =>
  z.pipe(
    z._default(z.string(), byDefault),
    z.pipe(
      z.transform((text: string) => text.toLowerCase()),
      z.enum(words, { error: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` }),
    ),
  );

function numberText(min: number, max: number, whole: boolean) {
  const error = `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`;
  const fits = (text: string) => {
    const value = Number(text);
    return /^\d+(\.\d+)?$/.test(text) && value >= min && value <= max && (!whole || Number.isInteger(value));
  };
  return z.string().check(z.refine(fits, { error }));
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const isSecureUrl = (text: string) => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
};

const origin = z.string({ error: 'the instance’s origin, such as https://acme.example.com' }).check(
  z.refine(
    (text) => {
      if (!isSecureUrl(text)) return false;
      const { href, origin: bare } = new URL(text);
      return href === `${bare}/` && !text.includes('@');
    },
    { error: 'an origin over https (or http on loopback), without path, query or user' },
  ),
);

/** Removes a trailing dot from the host: `acme.example.com.` is the same host, with the same budget, texts and runs. */
function withoutTrailingDot(text: string): string {
  const url = new URL(text);
  if (!url.hostname.endsWith('.')) return text;
  url.hostname = url.hostname.replace(/\.+$/, '');
  return url.origin;
}

/** Matches an address with `{id}` after the host, without a user or a password. */
const LINK = /^[a-z]+:\/\/[^/?#{@]+[/?#].*\{id\}/i;
const LINK_EXPECTED = 'an address with {id} over https (or http on loopback)';

/** Schema of an address of the platform's pages, in which `{id}` stands for the id of a record. */
export const platformLink = z.optional(
  z
    .string({ error: LINK_EXPECTED })
    .check(z.refine((text) => isSecureUrl(text) && LINK.test(text), { error: LINK_EXPECTED })),
);

const platformLinks = z.strictObject(
  { calculation: platformLink, card: platformLink, dataset: platformLink, 'data-file': platformLink },
  { error: 'an object of calculation, card, dataset and data-file' },
);

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const TABLE = /^([A-Za-z0-9_.-]{3,255}|sqlite:.+)$/;

const QUALIFIED_FUNCTION =
  /^(arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9_-]{1,64}:(\$LATEST|[A-Za-z0-9_-]{1,128})$/;

const isQueue = (text: string) => /^sqlite:./.test(text) || isQueueUrl(text);

const isQueueUrl = (text: string) =>
  URL.canParse(text) && /^https?:\/\/[^/]+\/./.test(text) && !text.includes('@');

const queueUrl = z.string().check(
  z.refine(isQueue, {
    error: 'the http or https URL of a queue, with a path and without a user, or sqlite:FILE',
  }),
);

/** Headers that must not carry a token: connection headers (RFC 9110, 7.6.1), and headers that every request has. */
const OTHER_HEADERS =
  /^(accept(-encoding)?|connection|content-(encoding|length|type)|expect|host|keep-alive|proxy-(authorization|connection)|range|te|trailer|transfer-encoding|upgrade)$/i;

/** Schema of the name of a header that can carry the token. */
export const tokenHeader = z.string({ error: 'a header name' }).check(
  z.regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'a header name' }),
  z.refine((name) => !OTHER_HEADERS.test(name), {
    error: 'a header that HTTP itself does not use',
  }),
);

const settingsSchema = z.object({
  PLATFORM_BASE_URL: z.pipe(origin, z.transform(withoutTrailingDot)),
  PLATFORM_TOKEN: z.optional(
    z.string().check(z.regex(/^[\x21-\x7e]+$/, { error: 'visible ASCII characters without spaces' })),
  ),
  PLATFORM_TOKEN_SECRET: z.optional(z.string()),
  PLATFORM_TOKEN_HEADER: z._default(tokenHeader, 'X-SERVICE-Developer-Token'),
  PLATFORM_RATE: number(0.001, 10_000, 2, false),
  PLATFORM_RATE_CEILING: z.optional(z.pipe(numberText(0.001, 10_000, false), z.transform(Number))),
  PLATFORM_CONCURRENCY: number(1, 1_000, 8),
  PLATFORM_MAX_WAIT_MS: number(0, 3_600_000, 20_000),
  PLATFORM_TIMEOUT_MS: number(1, 3_600_000, 60_000),
  PLATFORM_MAX_RESPONSE_BYTES: number(1_024, 2_147_483_647, 104_857_600),
  PLATFORM_LINKS: z.optional(z.pipe(z.pipe(z.string(), z.transform(jsonIn)), platformLinks)),
  PLATFORM_PRICES: z.optional(z.pipe(z.pipe(z.string(), z.transform(jsonIn)), pricesSchema)),
  SYNC_STORE: z._default(z.string(), DEFAULT_STORE),
  SYNC_COMPRESSION: word(['gzip', 'zstd'], 'gzip'),
  SYNC_PART_SECONDS: number(1, 3_600, 30),
  SYNC_ENCRYPTION: z.optional(
    z.string().check(
      z.regex(/^(AES256|aws:kms|aws:kms:[\w:/-]{1,2048})$/, {
        error: 'AES256, aws:kms or aws:kms: with the id, ARN or alias of a key',
      }),
    ),
  ),
  SYNC_TABLE: z.optional(
    z.string().check(
      z.regex(TABLE, {
        error: 'the name of a table, 3 to 255 letters, digits, _, . and -, or sqlite:FILE',
      }),
    ),
  ),
  SYNC_QUEUE_URL: z.optional(queueUrl),
  SYNC_DEAD_LETTER_URL: z.optional(queueUrl),
  SYNC_GLUE_DATABASE: z.optional(
    z.string().check(
      z.regex(/^[a-z0-9_-]{1,255}$/, {
        error: 'the name of a database, lower-case letters, digits, _ and -',
      }),
    ),
  ),
  SYNC_EVENT_BUS: z.optional(
    z.string().check(z.regex(/^[A-Za-z0-9/_.:-]{1,1600}$/, { error: 'the name or ARN of an event bus' })),
  ),
  SYNC_ALLOW: z.optional(z.string()),
  SYNC_STACK: z._default(
    z.string().check(z.regex(/^[A-Za-z][A-Za-z0-9-]{0,127}$/, { error: 'the name of a stack' })),
    'local',
  ),
  SYNC_SNAPSHOT_FUNCTION: z.optional(
    z
      .string()
      .check(z.regex(QUALIFIED_FUNCTION, { error: 'a function’s ARN or name with its version or alias' })),
  ),
  SYNC_FOLLOWERS: z.optional(z.string()),
  SYNC_GATES: z.optional(z.string()),
  SYNC_DIGEST_URL: z.optional(
    z.string().check(z.refine(isSecureUrl, { error: 'an address over https (or http on loopback)' })),
  ),
  LOG_LEVEL: word(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
});

/** The names of all settings: environment variables that commands and functions read, and that infra sets. */
export const settingNames = Object.keys(settingsSchema.shape) as readonly SettingName[];

/** The name of a setting, such as `SYNC_STORE`. */
export type SettingName = keyof Settings;

const syncSchema = z.pick(settingsSchema, {
  PLATFORM_LINKS: true,
  PLATFORM_PRICES: true,
  SYNC_STORE: true,
  SYNC_TABLE: true,
  SYNC_QUEUE_URL: true,
  SYNC_DEAD_LETTER_URL: true,
  SYNC_EVENT_BUS: true,
  SYNC_ENCRYPTION: true,
  SYNC_GLUE_DATABASE: true,
  SYNC_ALLOW: true,
  SYNC_GATES: true,
  SYNC_DIGEST_URL: true,
});

const paceSchema = z.pick(settingsSchema, { PLATFORM_BASE_URL: true, PLATFORM_RATE: true, SYNC_TABLE: true });
