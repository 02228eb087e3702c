import { gunzipSync } from 'node:zlib';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { runCommand, settingsOf } from './run-command.ts';

/** The reference platform, a bucket, and commands whose store is a folder of the bucket. */
export async function startS3Commands(records: Parameters<typeof startPlatform>[0]) {
  await using started = new AsyncDisposableStack();
  const none = { calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0 };
  const sandbox = started.use(await startPlatform({ ...none, ...records }));
  const aws = started.use(await startTestAws({ buckets: ['commands'] }));
  const client = createS3Client(aws.settings);
  started.defer(() => client.destroy());
  const bucket = aws.bucket('commands');
  const location = `s3://${bucket}/nightly`;
  const environment: Readonly<Record<string, string>> = {
    ...settingsOf(sandbox, location),
    LOG_LEVEL: 'silent',
    ...aws.settings,
  };
  const running = started.move();
  return {
    sandbox,
    location,
    environment,
    run: (...argv: readonly string[]) => runCommand(argv, environment),
    /** Every object that can be read in the bucket, including old versions, as its key and text. */
    readable: () => Array.fromAsync(readableIn(client, bucket)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function* readableIn(client: S3Client, Bucket: string): AsyncGenerator<string> {
  const current = await client.send(new ListObjectsV2Command({ Bucket }));
  // A local S3 without versioning returns no versions.
  const all = await client.send(new ListObjectVersionsCommand({ Bucket }));
  if (current.IsTruncated || all.IsTruncated) throw new Error('expected one page of objects');
  const places = [
    ...(current.Contents ?? []).map(({ Key = '' }) => ({ Key })),
    ...(all.Versions ?? [])
      // Without versioning, version `null` is the current object.
      .filter(({ VersionId }) => VersionId !== 'null')
      .map(({ Key = '', VersionId = '' }) => ({ Key, VersionId })),
  ];
  for (const place of places) {
    const { Key } = place;
    const { Body } = await client.send(new GetObjectCommand({ Bucket, ...place }));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    yield `${Key}: ${Key.endsWith('.gz') ? gunzipSync(bytes) : bytes}`;
  }
}
