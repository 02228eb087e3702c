import type { Environment } from '../settings.ts';

/** Settings that are secrets as a whole. */
const SECRET_NAMES = ['PLATFORM_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;

/** A shorter one would occur in other words by chance. */
const SHORTEST = 8;

const HIDDEN = '***';

/** The user information of a URL in any text, up to the last `@` of it: a password may hold one. */
const USER_IN_URL = /([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'<>]{0,300}@/gi;

/**
 * Removes from a text what no one may read: the secrets among the settings, the passwords in their URLs, also as a
 * header carries them, and the user information of any URL. A library's error may quote each of them.
 */
export function hideSecrets(environment: Environment): (text: string) => string {
  const secrets = [...new Set([...wholeSecrets(environment), ...passwords(environment)])]
    .filter((secret) => secret.length >= SHORTEST)
    // A secret may be a part of another one.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const withoutUsers = text.includes('@') ? text.replaceAll(USER_IN_URL, `$1${HIDDEN}@`) : text;
    return secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), withoutUsers);
  };
}

const wholeSecrets = (environment: Environment): readonly string[] =>
  SECRET_NAMES.flatMap((name) => inAllForms(environment[name] ?? ''));

/** The passwords in the URLs of all settings. */
function passwords(environment: Environment): readonly string[] {
  return Object.values(environment).flatMap((value = '') => {
    if (!value.includes('@') || !URL.canParse(value)) return [];
    const { username, password } = new URL(value);
    const [user, word] = [decoded(username), decoded(password)];
    return word === '' ? [] : [...inAllForms(password), ...inAllForms(word), base64(`${user}:${word}`)];
  });
}

/** As it is, and as JSON and an address have it. */
const inAllForms = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret.toWellFormed()),
];

const base64 = (text: string) => Buffer.from(text).toString('base64');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
