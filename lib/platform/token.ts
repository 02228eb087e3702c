/** Where the developer token comes from. Whoever holds it never shows it. */
export type TokenSource = {
  read(): Promise<string>;
  /** Forgets this token, which the platform refused. True if a fresh read may bring another. */
  refused(token: string): boolean;
};

/** A token that was given and cannot change. */
export function fixedToken(token: string): TokenSource {
  return { read: async () => token, refused: () => false };
}

export type SecretTokenOptions = {
  /** Reads the secret's text anew. */
  readonly fetchSecret: () => Promise<string>;
  readonly now?: () => number;
  /** How long a token is kept, in milliseconds. Default 5 minutes. */
  readonly keepMs?: number;
};

/** A token from a secret store: kept for a while, read again after a refusal, and read once by many at a time. */
export function secretToken({
  fetchSecret,
  now = Date.now,
  keepMs = 300_000,
}: SecretTokenOptions): TokenSource {
  let kept: { readonly token: Promise<string>; readonly untilMs: number } | undefined;
  let last: string | undefined;
  return {
    read() {
      if (kept === undefined || now() >= kept.untilMs) {
        const token = fetchSecret().then((secret) => {
          last = secret.trim();
          return last;
        });
        kept = { token, untilMs: now() + keepMs };
        token.catch(() => {
          // A fetch that fails late must not take a newer one with it.
          if (kept?.token === token) kept = undefined;
        });
      }
      return kept.token;
    },
    refused(token) {
      // Many calls may be refused at once: whoever comes second must not throw the fresh token away.
      if (token === last) kept = undefined;
      return true;
    },
  };
}

/** What is wrong with a token as a header's value, without showing it; undefined if nothing is. */
export function tokenFault(token: string): string | undefined {
  if (/^[\x21-\x7e]+$/.test(token)) return undefined;
  return `token: expected visible ASCII characters without spaces, got ${token.length} characters (not shown)`;
}

/**
 * Takes a token, as it is or as it stands in an address, out of a text that somebody else wrote, such as an error
 * body that echoes a header.
 */
export function redact(text: string, token: string): string {
  if (token === '') return text;
  const inAddress = encodeURIComponent(token.toWellFormed());
  return text.replaceAll(token, '[token]').replaceAll(inAddress, '[token]');
}
