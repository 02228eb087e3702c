import { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { readAwsFault } from '../base/index.ts';
import { checkPrefix, isKey } from './key.ts';
import { wholeBody } from './s3-body.ts';
import type { OwnFolder } from './s3-list.ts';
import { MOST_OBJECT_BYTES, type OldVersion } from './store.ts';

export type HistoryOptions = {
  readonly signal: AbortSignal | undefined;
  /** Runs what is done to a version of a key, and explains what it throws. */
  readonly run: <T>(act: 'get' | 'erase', key: string, work: (tried: string) => Promise<T>) => Promise<T>;
  /** How long S3 may pause in the middle of a version, in milliseconds. */
  readonly mostPauseMs: number;
};

/**
 * The versions under `folder` and `under` that are no longer current, of deleted objects too. None in a bucket without
 * versions. Markers of deletions are left out: they hold nothing, and without them an older version would come back.
 */
export async function* listOldVersions(
  { client, bucket, folder }: OwnFolder,
  under: string,
  { signal, run, mostPauseMs }: HistoryOptions,
): AsyncGenerator<OldVersion> {
  checkPrefix(under);
  const options = signal === undefined ? {} : { abortSignal: signal };
  let markers: { readonly KeyMarker: string; readonly VersionIdMarker: string | undefined } | undefined;
  do {
    const command = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: folder + under, ...markers });
    const page = await client.send(command, options).catch(unlessUnknown);
    for (const { Key = '', VersionId, IsLatest } of page?.Versions ?? []) {
      const key = Key.slice(folder.length);
      if (IsLatest !== false || VersionId === undefined || !isKey(key)) continue;
      const place = { Bucket: bucket, Key, VersionId };
      yield {
        key,
        read: () =>
          run('get', key, async (tried) => {
            const { Body, ContentLength } = await client.send(new GetObjectCommand(place), options);
            const whole = { tried, mostBytes: MOST_OBJECT_BYTES, mostPauseMs };
            if (!(Body instanceof Readable)) throw new Error('S3 responded without a body');
            return wholeBody({ body: Body, sizeBytes: ContentLength }, whole);
          }),
        erase: () =>
          run('erase', key, async () => void (await client.send(new DeleteObjectCommand(place), options))),
      };
    }
    const { NextKeyMarker, NextVersionIdMarker } = page ?? {};
    markers = NextKeyMarker ? { KeyMarker: NextKeyMarker, VersionIdMarker: NextVersionIdMarker } : undefined;
  } while (markers !== undefined);
}

/** A store that speaks S3 and has no versions may not know the request. */
function unlessUnknown(error: unknown): undefined {
  if (readAwsFault(error).code !== 'NotImplemented') throw error;
}
