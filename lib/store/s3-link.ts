import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { AwsEnvironment } from '../base/aws/index.ts';
import { createS3Client } from './s3-client.ts';

/** Signs a link to an object with the credentials of this process. Sends no request: the object need not exist. */
export async function signLink(options: {
  readonly bucket: string;
  readonly key: string;
  /** How long the link is valid: at most seven days, the limit of S3. */
  readonly seconds: number;
  readonly environment: AwsEnvironment;
}): Promise<{
  readonly url: string;
  /**
   * When the credentials that signed the link expire, and the link with them; undefined if they do not expire, or their
   * end is unknown.
   */
  readonly credentialsEnd: Date | undefined;
  readonly isTemporary: boolean;
}> {
  const { bucket, key, seconds, environment } = options;
  const client = createS3Client(environment);
  try {
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key }), {
      expiresIn: seconds,
    });
    const { expiration, sessionToken } = await client.config.credentials();
    return { url, credentialsEnd: expiration, isTemporary: sessionToken !== undefined };
  } finally {
    client.destroy();
  }
}
