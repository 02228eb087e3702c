import fc from 'fast-check';
import * as z from 'zod/mini';
import { own } from '../../../../lib/base/index.ts';
import { canonicalJson, parseJson } from '../../../../lib/base/json/index.ts';
import { readAllow } from '../../../../lib/jobs/allow.ts';
import { readFollowers } from '../../../../lib/jobs/types/snapshot/open-snapshots.ts';
import {
  readPaceSettings,
  readSettings,
  readSyncSettings,
  SettingsError,
  settingNames,
  tidied,
} from '../../../../lib/settings.ts';
import { readGates } from '../../../../lib/snapshot/sources/index.ts';
import { defineTarget, Finding, must } from '../target.ts';

/*
 * Environments: each is read as settings with the given values, or rejected with one error that names every invalid
 * variable and shows no secret.
 */

/** The secret in a token, or in a URL where a password may be. */
const SECRET = 'hunter2-Xq9';

const TOKENS = [
  ...'https:// http:// ftp:// s3://bucket acme.example.com 127.0.0.1 [::1] :443 :99999 / ?a=b #x @ %00 %'.split(
    ' ',
  ),
  ...'٣ ½ 1e3 0x10 -0 1.0 +1 00012 0 1 9007199254740993 Infinity NaN true {} [] null " gzip zstd'.split(' '),
  ...'__proto__ constructor sqs.eu-central-1.amazonaws.com/1/jobs amazonaws.com {"types":["score"]}'.split(
    ' ',
  ),
  ...['\0', '\r\n', ' ', '\t', '\ud800', '\u202e', '9'.repeat(400), 'x'.repeat(300)],
  '{"version":1,"type":"snapshot","source":"cards"}',
];

const OTHER_NAMES = [
  ...['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'AWS_REGION', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS'],
  ...['AWS_USE_FIPS_ENDPOINT', 'AWS_USE_DUALSTACK_ENDPOINT', '__proto__', 'PATH'],
];
const ALL_NAMES = [...settingNames, ...OTHER_NAMES];

const GOOD: Readonly<Partial<Record<string, readonly string[]>>> = {
  PLATFORM_BASE_URL: ['https://acme.example.com', 'http://127.0.0.1:3000', 'https://acme.example.com:8443/'],
  PLATFORM_TOKEN: ['secret-token', SECRET, `${SECRET} token`, `${SECRET}\n`],
  PLATFORM_TOKEN_HEADER: ['X-Token'],
  PLATFORM_RATE: ['2', '0.5', '10000'],
  PLATFORM_TIMEOUT_MS: ['1', '60000'],
  PLATFORM_LINKS: ['{"card":"https://acme.example.com/cards/{id}"}', '{"card":"/cards/{id}"}'],
  PLATFORM_PRICES: ['{"unit":"credits","score":1}', '{"unit":"credits","score":"1"}'],
  SYNC_STORE: ['s3://bucket/prefix', './data'],
  SYNC_TABLE: ['platform-sync'],
  SYNC_QUEUE_URL: [
    'https://sqs.eu-central-1.amazonaws.com/123456789012/jobs',
    'http://127.0.0.1:4566/1/jobs',
  ],
  SYNC_GLUE_DATABASE: ['acme_catalog'],
  SYNC_ALLOW: ['{"types":["score"],"functions":["greet"]}'],
  SYNC_GATES: ['{"calculations":{"shrunk":0.8}}', '{"cards":{"shrunk":null}}'],
  SYNC_SNAPSHOT_FUNCTION: ['snapshot:live'],
  LOG_LEVEL: ['debug', 'silent'],
  HTTPS_PROXY: ['http://proxy:3128', `https://user:${SECRET}@proxy.example.com`],
};

/** A URL with a password, which no error may show. */
const withSecret = fc
  .tuple(
    fc.constantFrom('https://', 'http://', 'socks5://', ''),
    fc.constantFrom(`u:${SECRET}@`, `${SECRET}@`, `u:a@${SECRET}@`),
  )
  .chain(([scheme, user]) =>
    fc
      .constantFrom('acme.example.com', 'sqs.example.com/1/jobs', 'h/p?q', `h?key=${SECRET}`, ' h', 'h:1:2')
      .map((rest) => scheme + user + rest),
  );

const value = (name: string) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...(own(GOOD, name) ?? ['1', '100', 'abc'])) },
    {
      weight: 3,
      arbitrary: fc.array(fc.constantFrom(...TOKENS), { maxLength: 4 }).map((all) => all.join('')),
    },
    { weight: 1, arbitrary: withSecret },
  );

const variable = fc.constantFrom(...ALL_NAMES).chain((name) => fc.tuple(fc.constant(name), value(name)));
const baseUrl = ['PLATFORM_BASE_URL', 'https://acme.example.com'] as const;
const minimal = fc.constantFrom<Pairs>(
  [baseUrl, ['PLATFORM_TOKEN', SECRET]],
  [baseUrl, ['PLATFORM_TOKEN_SECRET', 'platform/token']],
  [],
);

type Environment = Readonly<Record<string, string>>;
type Pairs = readonly (readonly [string, string])[];

export const settings = defineTarget({
  name: 'settings',
  schema: z.array(z.tuple([z.string(), z.string()])) as z.ZodMiniType<Pairs>,
  tokens: TOKENS,
  inputs: fc.tuple(minimal, fc.array(variable, { maxLength: 6 })).map(([some, more]) => [...some, ...more]),
  check(pairs) {
    // The environment of a process has no NUL and no duplicate names.
    const given: Environment = Object.fromEntries(pairs.filter(([, text]) => !text.includes('\0')));
    const outcomes = [
      outcomeOf(given, readSettings),
      outcomeOf(given, readSyncSettings),
      outcomeOf(given, readPaceSettings),
    ];
    checkEveryFault(given);
    return [...outcomes, ...jsonOutcomes(given)].join(' ');
  },
});

/** Reads settings, and checks that accepted values are unchanged and rejected variables are named. */
function outcomeOf(given: Environment, read: (given: Environment) => object): string {
  const faults = faultsOf(given, read);
  if (typeof faults === 'string') return faults;
  const text = faults.join('\n');
  must(faults.length > 0, 'an error has faults', () => text);
  checkSecrets(given, text);
  return `refused(${nameIn(faults[0] ?? '')}${faults.length > 1 ? ' and others' : ''})`;
}

const nameIn = (fault: string) => fault.split(':')[0] ?? '';

/** The faults found by reading. Without faults, checks that each value is unchanged, and returns `read`. */
function faultsOf(given: Environment, read: (given: Environment) => object): readonly string[] | 'read' {
  try {
    const settings = new Map<string, unknown>(Object.entries(read(given)));
    for (const [name, text = ''] of Object.entries(tidied(given))) {
      if (text === '' || !settings.has(name)) continue;
      const got = settings.get(name);
      must(
        isSame(got, text),
        'a setting is what was given',
        () => `${name}: ${JSON.stringify(text)} became ${JSON.stringify(got)}`,
      );
    }
    for (const name of settingNames) {
      const isRead = read !== readSettings || !tidied(given)[name] || settings.has(name);
      must(isRead, 'nothing that is set is ignored', () => name);
    }
    return 'read';
  } catch (error) {
    if (error instanceof Finding || !(error instanceof SettingsError)) throw error;
    must(error.message.length < 40_000, 'an error is short', () => String(error.message.length));
    for (const fault of error.faults)
      must(error.message.includes(fault), 'the message has every fault', () => fault);
    return error.faults;
  }
}

/** Whether a setting equals the text, or the number or JSON object in the text. */
function isSame(got: unknown, text: string): boolean {
  if (typeof got === 'number') return /^[0-9.]+$/.test(text) && got === Number(text);
  if (typeof got === 'object') return canonicalJson(got) === canonicalJson(parseJson(text));
  // Words are accepted in either letter case.
  return got === text || (/^[a-z]{4,6}$/.test(String(got)) && got === text.toLowerCase());
}

/** Checks that neither the token nor a password of a URL is shown. */
function checkSecrets({ PLATFORM_TOKEN: token = '', ...others }: Environment, shown: string): void {
  // A mutation may turn the token into a word that faults contain anyway.
  const isOurs = !/hunter/.test(token) || Object.values(others).some((text) => text.includes(token));
  must(isOurs || !shown.includes(token), 'no fault shows the token', () => shown);
  const isPlaced = Object.values(others).every((text) => !shownPart(text).includes(SECRET));
  must(!isPlaced || !shown.includes(SECRET), 'no fault shows a password', () => shown);
}

/** The part of a location that is not secret. Mutations may move the password anywhere. */
const shownPart = (text: string) => text.replace(/^.*@/s, '').replace(/\?.*$/s, '');

/** Checks that each variable that is rejected alone is also rejected for the same reason among others. */
function checkEveryFault(given: Environment): void {
  const faults = faultsOf(given, readSettings);
  const named = new Set(faults === 'read' ? [] : faults.map(nameIn));
  const around = Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith('AWS_')));
  for (const [name, text] of Object.entries(given)) {
    // A proxy variable in lower case takes precedence over the one in upper case.
    const other = name.toLowerCase();
    if (other !== name && given[other]) continue;
    const alone = {
      ...ACCEPTED,
      ...(name === 'PLATFORM_TOKEN_SECRET' ? { PLATFORM_TOKEN: '' } : {}),
      ...around,
      [name]: text,
    };
    const found = faultsOf(alone, readSettings);
    if (found === 'read') continue;
    const missing = found.map(nameIn).filter((each) => each === name && !named.has(each));
    must(
      missing.length === 0,
      'every fault is reported',
      () => `${name}: ${found.join()}, but ${[...named].join()}`,
    );
  }
}

const ACCEPTED = {
  PLATFORM_BASE_URL: 'https://acme.example.com',
  PLATFORM_TOKEN: 'secret-token',
  SYNC_STORE: 's3://bucket',
};

/** Reads the settings that are JSON. They are rejected with their own errors. */
function jsonOutcomes(given: Environment): readonly string[] {
  const { SYNC_ALLOW: allow, SYNC_FOLLOWERS: followers, SYNC_GATES: gates } = given;
  return [
    refusalOf(() => readAllow(allow), SettingsError),
    refusalOf(() => readFollowers(followers), SettingsError),
    refusalOf(() => readGates(gates), SettingsError),
  ];
}

type JsonError = Error & { readonly faults: readonly string[] };

function refusalOf(read: () => unknown, kind: abstract new (...args: never[]) => JsonError): string {
  try {
    read();
    return '';
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    must(
      error.faults.length > 0 && error.message.length < 10_000,
      'an error has faults, and is short',
      () => error.message,
    );
    return kind.name;
  }
}
