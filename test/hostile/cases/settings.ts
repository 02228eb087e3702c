import type { CommandCase } from '../command-case.ts';

/* Invalid settings, each alone among valid ones. */

const RLO = '\u202e';

/** Values of a setting that are rejected with its name, in a short and harmless message. */
const refused = (setting: string, values: readonly string[], argv = ['snapshot', 'calculations']) =>
  values.map(
    (value): CommandCase => ({
      name: `${setting}=${JSON.stringify(value).slice(0, 60)}`,
      argv,
      settings: { [setting]: value },
      code: 2,
      says: new RegExp(`^platform-sync: wrong settings:\\n {2}${setting}: `),
    }),
  );

const NUMBERS = [
  ...['PLATFORM_RATE', 'PLATFORM_CONCURRENCY', 'PLATFORM_MAX_WAIT_MS', 'PLATFORM_TIMEOUT_MS'],
  ...['PLATFORM_MAX_RESPONSE_BYTES', 'SYNC_PART_SECONDS'],
];
const NO_NUMBERS = ['-1', 'NaN', '1e3', '0x10', '5 5', '５', '9'.repeat(10_000), `5${RLO}`];

const ORIGINS = [
  ...'acme.example.com http://acme.example.com ftp://acme.example.com https://acme.example.com/path'.split(
    ' ',
  ),
  ...'https://acme.example.com?a=b https://user:word@acme.example.com https:// https://[::1'.split(' '),
  ...'https://acme.example.com:99999 http://127.0.0.1.example.com http://localhost.example.com'.split(' '),
  ...['javascript:alert(1)', `https://${'a'.repeat(1_000_000)}/x`],
];

const QUEUES =
  'queue sqs://queue https://queue https://user:word@sqs.example.com/1/q file:///etc/passwd'.split(' ');
const PROXIES = [...'socks5://127.0.0.1:1 http:// file:///etc/passwd https://:@/'.split(' '), `x${RLO}`];
const HEADERS = [
  ...['Host', 'content-length', 'Transfer-Encoding', 'Connection'],
  ...['a b', 'a:b', 'a\r\nX: y', '[0m', 'ä'],
];
const TOKENS = ['two words', 'a\r\nX: y', 'ä', '\u001b[2J', 'x'.repeat(100_000).concat(' x')];
const TABLES = ['a', 'a/b', '../x', `t${RLO}able`, 'x'.repeat(100_000)];

export const settingsCases: readonly CommandCase[] = [
  ...NUMBERS.flatMap((name) => refused(name, NO_NUMBERS)),
  ...refused('PLATFORM_BASE_URL', ORIGINS),
  ...refused('SYNC_QUEUE_URL', QUEUES, ['submit', '-']),
  ...refused('SYNC_DEAD_LETTER_URL', QUEUES, ['submit', '-']),
  ...refused('HTTPS_PROXY', PROXIES),
  ...refused('https_proxy', PROXIES),
  ...refused('PLATFORM_TOKEN_HEADER', HEADERS),
  ...refused('PLATFORM_TOKEN', TOKENS),
  ...refused('SYNC_TABLE', TABLES),
  ...refused('SYNC_COMPRESSION', ['brotli', 'gz', '__proto__', 'toString']),
  ...refused('LOG_LEVEL', ['loud', 'in fo', '__proto__', 'x'.repeat(1_000_000)]),
  ...refused('SYNC_STACK', ['1', 'a b', '../x', 'x'.repeat(1_000)]),
  ...refused('SYNC_GLUE_DATABASE', ['A', 'a b', 'acme']),
  ...refused('SYNC_SNAPSHOT_FUNCTION', ['snapshot', 'snapshot:', 'arn:aws:lambda:x']),
];
