import * as z from 'zod/mini';
import { AwsError } from '../base/aws/index.ts';
import { listed } from '../base/index.ts';
import { parseJson } from '../base/json/index.ts';

/** Where the developer token comes from. Code that holds the token never shows it. */
export type TokenSource = {
  read(): Promise<string>;
  /** Forgets this token, which the platform refused. True if a fresh read may return another. */
  refused(token: string): boolean;
};

/** A given token that cannot change. */
export function fixedToken(token: string): TokenSource {
  return { read: async () => token, refused: () => false };
}

/** Options for a token from a secret store. */
export type SecretTokenOptions = {
  /** Reads the secret's text from the secret store. */
  readonly fetchSecret: () => Promise<string>;
  readonly now?: () => number;
  /** How long a token is cached, in milliseconds. Default 5 minutes. */
  readonly cacheMs?: number;
};

export const secretLimits = { connectionTimeoutMs: 5_000, requestTimeoutMs: 10_000 } as const;

/** A token from a secret store: cached, read again after a refusal, and read only once for concurrent callers. */
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
          // A fetch that fails late must not discard a newer one.
          if (cached?.token === token) cached = undefined;
        });
      }
      return cached.token;
    },
    refused(token) {
      // Many calls may be refused at once: the second must not throw the fresh token away.
      if (token === last) cached = undefined;
      return true;
    },
  };
}

/**
 * The token in what a person stored: its text, with quotes around it, or as the value of the one pair that the console of
 * Secrets Manager makes of it. Throws `AwsError`, without showing it, for anything else.
 */
export function storedToken(place: string, stored: string | undefined): string {
  const text = (stored ?? '').trim();
  const json = /^["{[]/.test(text) ? jsonIn(text) : text;
  const pairs = typeof json === 'object' && json !== null ? Object.entries(json) : [['', json]];
  const [[, value] = []] = pairs;
  const token = pairs.length === 1 && typeof value === 'string' ? value.trim() : '';
  if (token !== '' && tokenFault(token) === undefined) return token;
  const got =
    stored === undefined
      ? 'binary'
      : text === ''
        ? 'nothing'
        : token !== ''
          ? 'a text with spaces or other invisible characters in it'
          : `JSON of ${listed(pairs.map(([name]) => String(name)))}`;
  throw notAToken(place, `the token as plain text, or as one pair of text, got ${got}`);
}

/** What is stored is something else: that is of the store, not of the calls that need the token, and no time heals it. */
export const notAToken = (place: string, expected: string): AwsError =>
  new AwsError(
    'token',
    `read ${place}`,
    Object.assign(new Error(`expected ${expected}`), { name: 'NotAToken' }),
  );

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** What makes a token unusable as a header's value, without showing it; undefined if nothing does. */
export function tokenFault(token: string): string | undefined {
  if (/^[\x21-\x7e]+$/.test(token)) return undefined;
  return `token: expected visible ASCII characters without spaces, got ${token.length} characters (not shown)`;
}

/** Headers that a token would break: those of the connection (RFC 9110, 7.6.1) and those that every request has. */
const OTHER_HEADERS =
  /^(accept(-encoding)?|connection|content-(encoding|length|type)|expect|host|keep-alive|proxy-(authorization|connection)|range|te|trailer|transfer-encoding|upgrade)$/i;

export const isOtherHeader = (name: string): boolean => OTHER_HEADERS.test(name);

export const tokenHeader = z.string({ error: 'a header name' }).check(
  z.regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'a header name' }),
  z.refine((name) => !isOtherHeader(name), {
    error: 'a header of its own, not one that the request or its connection needs',
  }),
);
