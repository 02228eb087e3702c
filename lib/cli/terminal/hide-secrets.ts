import { unescape as decoded } from 'node:querystring';
import type { Hide } from '../../base/index.ts';
import { createHide, MIN_RUN_LENGTH } from '../../platform/index.ts';
import type { Environment } from '../../settings.ts';

/** Settings whose whole value is a secret. */
const SECRET_NAMES = [
  'PLATFORM_TOKEN',
  'SYNC_DIGEST_URL',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
] as const;

const HIDDEN = '***';

/** Matches the user information of a URL, up to the last `@`, since a password may contain an `@`. */
const USER_IN_URL = /([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'<>]{0,300}@/gi;

/**
 * Creates a function that hides secrets in a message, since a library's error may quote them: secret settings, the
 * passwords in URLs of settings (also as a basic authorization header), and the user information of any URL. A short
 * secret is not hidden, since it would occur in other words by chance.
 */
export function hideSecrets(environment: Environment): Hide {
  const secrets = [...SECRET_NAMES.map((name) => environment[name] ?? ''), ...passwords(environment)];
  const hide = createHide(
    secrets.filter((secret) => secret.length >= MIN_RUN_LENGTH),
    HIDDEN,
  );
  return (text) => hide(text.includes('@') ? text.replaceAll(USER_IN_URL, `$1${HIDDEN}@`) : text);
}

/** The passwords in the URLs of all settings. */
function passwords(environment: Environment): readonly string[] {
  return Object.values(environment).flatMap((value = '') => {
    if (!value.includes('@') || !URL.canParse(value)) return [];
    const { username, password } = new URL(value);
    const word = decoded(password);
    if (word === '') return [];
    return [password, word, Buffer.from(`${decoded(username)}:${word}`).toString('base64')];
  });
}
