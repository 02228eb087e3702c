/**
 * Replaces the SDK's credential chain (`@aws-sdk/credential-provider-node`) in the bundles. The chain also supports
 * profiles, single sign-on and other services, which are not needed, because Lambda puts a function's credentials
 * into the environment. The returned function throws if they are missing.
 */
export function defaultProvider() {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
      throw new Error(
        `expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as Lambda sets them, got no ${AWS_ACCESS_KEY_ID ? 'secret' : 'access key id'}`,
      );
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
    };
  };
}
