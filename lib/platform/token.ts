import { type AwsEnvironment, AwsError, asAwsError, tokenClient } from '../base/aws/index.ts';
import { listed, loadPeer, once } from '../base/index.ts';
import { parseJson } from '../base/json/index.ts';

/** Where the developer token comes from. Code that holds the token must not show it. */
export type TokenSource = {
  /** Returns the token. May throw errors of the secret store. */
  read(): Promise<string>;
  /**
   * Reports that the platform refused this token, so that it is not cached. Returns whether `read` may now return
   * another.
   */
  refused(token: string): boolean;
};

/** A token that does not change, such as one from a setting. */
export function fixedToken(token: string): TokenSource {
  return { read: async () => token, refused: () => false };
}

/** Options for a token from a secret store. */
export type SecretTokenOptions = {
  /** Reads the secret's text from the secret store. */
  readonly fetchSecret: () => Promise<string>;
  /** The clock, in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** How long a token is cached, in milliseconds. Default 300,000 (5 minutes). */
  readonly cacheMs?: number;
};

/**
 * A token from a secret store. It is cached, read again after the platform refuses it, and read once for concurrent
 * callers. A failed read is not cached, and `read` throws its error.
 *
 * ```ts
 * const token = secretToken({ fetchSecret: () => readFile('/run/secrets/platform-token', 'utf8') });
 * ```
 */
export function secretToken({
  fetchSecret,
  now = Date.now,
  cacheMs = 300_000,
}: SecretTokenOptions): TokenSource {
  let cached: { readonly token: Promise<string>; readonly untilMs: number } | undefined;
  let last: string | undefined;
  return {
    read() {
      if (cached === undefined || now() >= cached.untilMs) {
        const token = fetchSecret().then((secret) => {
          last = secret.trim();
          return last;
        });
        cached = { token, untilMs: now() + cacheMs };
        token.catch(() => {
          // A read that fails late must not discard a newer token.
          if (cached?.token === token) cached = undefined;
        });
      }
      return cached.token;
    },
    refused(token) {
      // Many calls may be refused at the same time, and the second refusal must not discard the fresh token.
      if (token === last) cached = undefined;
      return true;
    },
  };
}

const limits = { connectionTimeoutMs: 5_000, requestTimeoutMs: 10_000 } as const;

type StoredOptions = { readonly location: string; readonly environment: AwsEnvironment };

/**
 * The token in a SecureString of Parameter Store, by the parameter's ARN, or in a secret of Secrets Manager,
 * by its id or ARN. The first read loads the SDK. Throws `PeerMissingError` if the client is not installed, and
 * `AwsError` for any other problem, including a parameter that is not encrypted.
 */
export function openStoredToken({ location, environment }: StoredOptions): TokenSource {
  const isParameter = tokenClient(location) === '@aws-sdk/client-ssm';
  const named = `${isParameter ? 'parameter' : 'secret'} ${location}`;
  const open = once(async (): Promise<() => Promise<StoredText>> => {
    if (isParameter) {
      const { openParameter } = await loadPeer('@aws-sdk/client-ssm', () => import('./parameter-store.ts'));
      return openParameter(location, environment, limits);
    }
    const { openSecret } = await loadPeer(
      '@aws-sdk/client-secrets-manager',
      () => import('./secrets-manager.ts'),
    );
    return openSecret(location, environment, limits);
  });
  const fetchSecret = async () => {
    const get = await open();
    const { text, type } = await asAwsError({ resource: 'token', tried: `read ${named}` }, get);
    if (isParameter && type !== 'SecureString')
      throw notAToken(named, `a SecureString, got ${type ?? 'nothing'}`);
    return storedToken(named, text);
  };
  return secretToken({ fetchSecret });
}

/** A stored secret; for a parameter, also its type. */
type StoredText = { readonly text: string | undefined; readonly type?: string | undefined };

/**
 * Extracts the token from a stored secret: the secret itself, a JSON string, or the value of a JSON object with a
 * single key, as the console of Secrets Manager stores it. For any other secret, throws an `AwsError` that does not
 * show it.
 */
function storedToken(location: string, stored: string | undefined): string {
  const text = (stored ?? '').trim();
  const json = /^["{[]/.test(text) ? jsonIn(text) : text;
  const pairs = typeof json === 'object' && json !== null ? Object.entries(json) : [['', json]];
  const value: unknown = pairs[0]?.[1];
  const token = pairs.length === 1 && typeof value === 'string' ? value.trim() : '';
  if (token !== '' && tokenFault(token) === undefined) return token;
  const got =
    stored === undefined
      ? 'binary'
      : text === ''
        ? 'nothing'
        : token !== ''
          ? 'a string with spaces or other invisible characters in it'
          : `JSON with ${pairs.length === 1 ? 'the key' : 'the keys'} ${listed(pairs.map(([name]) => String(name)))}`;
  throw notAToken(location, `the token as plain text, or as JSON with one key and a string, got ${got}`);
}

/**
 * The error for a stored secret that is not a token. It is permanent, and counts as an error of the secret, not of the
 * calls that need the token.
 */
const notAToken = (location: string, expected: string): AwsError =>
  new AwsError(
    'token',
    `read ${location}`,
    Object.assign(new Error(`expected ${expected}`), { name: 'NotAToken' }),
  );

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Why a token cannot be sent in a header, without showing it; undefined if it can. */
export function tokenFault(token: string): string | undefined {
  if (/^[\x21-\x7e]+$/.test(token)) return undefined;
  return `token: expected visible ASCII characters without spaces, got ${token.length} characters (not shown)`;
}
