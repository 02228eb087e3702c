/** Settings without which the SDK sends nothing. `code` is ours where the SDK has none. */
export type MissingSettings = { readonly code: string; readonly message: string; readonly missing: string };

/**
 * The settings that are missing, if that is why the SDK threw. It gives a missing region no name and no code, and uses
 * one name for all that may go wrong with credentials: only its words differ.
 */
export function missingSettings(error: unknown): MissingSettings | undefined {
  if (!(error instanceof Error)) return undefined;
  const found = SETTINGS.find(({ words }) => error.message.startsWith(words));
  return (
    found && { code: found.code, message: `expected ${found.missing}, got none`, missing: found.missing }
  );
}

const SETTINGS = [
  {
    words: 'Region is missing',
    code: 'MissingRegion',
    missing: 'an AWS region in AWS_REGION, AWS_DEFAULT_REGION or the profile of AWS_PROFILE',
  },
  {
    words: 'Could not load credentials from any providers',
    code: 'CredentialsProviderError',
    missing:
      'AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile of AWS_PROFILE or a role',
  },
] as const;
