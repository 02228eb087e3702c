import { buildApp } from 'fauxqs';
import { addConditionalWrites, type FauxqsApp } from './conditional-writes.ts';
import { addListingOrder } from './listing-order.ts';

/** `buckets` are made at the start; `port` is a free one if absent. */
export type AwsOptions = { readonly buckets: readonly string[]; readonly port?: number };

export type LocalAws = {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The SDK's environment variables that reach it, for `createS3Client` or a process of its own. */
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
} & AsyncDisposable;

/**
 * S3 in this process's memory by fauxqs, on loopback only; nothing is kept after `close`. Any credentials will do.
 * Requests carry at most 11 MiB, parts of an upload at most 10 MiB. Throws if a bucket's name is not S3's or the
 * port is taken.
 */
export const startAws = async ({ buckets, port = 0 }: AwsOptions): Promise<LocalAws> => {
  const app = buildApp({ logger: false, defaultRegion: region });
  addConditionalWrites(app);
  addListingOrder(app);
  try {
    for (const bucket of buckets) await createBucket(app, bucket);
    // fauxqs's own start listens on all addresses.
    return describe(app, await app.listen({ host: '127.0.0.1', port }));
  } catch (error) {
    await app.close();
    throw error;
  }
};

const region = 'us-east-1';
const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' };

const createBucket = async (app: FauxqsApp, bucket: string): Promise<void> => {
  const answer = await app.inject({ method: 'PUT', url: `/${encodeURIComponent(bucket)}` });
  if (answer.statusCode !== 200)
    throw new Error(`create the bucket ${bucket}: ${answer.statusCode} ${answer.body}`);
};

const describe = (app: FauxqsApp, endpoint: string): LocalAws => {
  const close = async () => {
    await app.close();
  };
  return {
    endpoint,
    region,
    credentials,
    settings: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
