import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  type S3Client,
} from '@aws-sdk/client-s3';
import { readAwsFault } from '../base/index.ts';

/** A folder of a bucket, with a trailing slash, in which every upload is ours. */
export type OwnFolder = { readonly client: S3Client; readonly bucket: string; readonly folder: string };

/**
 * The age from which an upload in parts is a leftover of a process that was killed. No upload of ours lasts as long: its
 * body is in memory, and even 4 GiB, sent as 512 parts, four at a time, each in three attempts of 2 minutes, take 13
 * hours.
 */
const LEFTOVER_AGE_MS = 24 * 60 * 60_000;

/**
 * Returns a function to call before each upload in parts: on the first call it aborts, in the background, the uploads
 * that killed processes left. Everything under a store's prefix belongs to the store by design. A store that is the
 * whole bucket may share it with others: there it cleans up the folder of the key (`work/`, a source's), once each.
 */
export function abortLeftoversOnce({ client, bucket, folder }: OwnFolder) {
  const done = new Set<string>();
  return (key: string, signal: AbortSignal | undefined): void => {
    const own = folder === '' ? key.slice(0, key.indexOf('/') + 1) : folder;
    if (own === '' || done.has(own)) return;
    done.add(own);
    void abortLeftovers({ client, bucket, folder: own }, signal);
  };
}

/**
 * Aborts the uploads that killed processes left in the folder: they cost money, and no list of objects shows them.
 * Never throws: whoever may not list or abort them, such as the roles of the stack, whose bucket has a rule that does
 * it, leaves them alone.
 */
export async function abortLeftovers(own: OwnFolder, signal?: AbortSignal): Promise<void> {
  const { client, bucket, folder } = own;
  const options = signal === undefined ? {} : { abortSignal: signal };
  try {
    for await (const { Key, UploadId } of leftovers(own, options)) {
      if (Key === undefined || !Key.startsWith(folder)) continue;
      const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      await client.send(command, options).catch(unlessGone);
    }
  } catch {
    // Cleaning up must not make a put fail.
  }
}

/** Another process may have aborted it meanwhile. */
function unlessGone(error: unknown): void {
  if (readAwsFault(error).code !== 'NoSuchUpload') throw error;
}

async function* leftovers(
  { client, bucket, folder }: OwnFolder,
  options: { readonly abortSignal?: AbortSignal },
): AsyncGenerator<MultipartUpload> {
  let markers: { readonly KeyMarker: string; readonly UploadIdMarker: string | undefined } | undefined;
  do {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: folder, ...markers });
    const clock = watchClock(command);
    const page = await client.send(command, options);
    // By S3's clock on both sides: ours may be days ahead.
    const startedBefore = clock.nowMs() - LEFTOVER_AGE_MS;
    yield* (page.Uploads ?? []).filter(({ Initiated }) => Number(Initiated) < startedBefore);
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    markers =
      IsTruncated && NextKeyMarker
        ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker }
        : undefined;
  } while (markers !== undefined);
}

/** The time at which S3 responded to the command; NaN, which no age can be computed from, if it gave none. */
function watchClock(command: ListMultipartUploadsCommand): { readonly nowMs: () => number } {
  let date: unknown;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      date = headerOf(result.response, 'date');
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  return { nowMs: () => (typeof date === 'string' ? Date.parse(date) : Number.NaN) };
}

function headerOf(response: unknown, name: string): unknown {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return undefined;
  const { headers } = response;
  return typeof headers === 'object' && headers !== null
    ? Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
    : undefined;
}
