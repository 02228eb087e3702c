import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { checkPrefix, isKey } from './key.ts';
import type { ListedObject } from './store.ts';

/** A folder of a bucket, with a trailing slash, or the whole bucket if it is empty: all in it is the store's. */
export type OwnFolder = { readonly client: S3Client; readonly bucket: string; readonly folder: string };

/** What is listed: the keys of the store in `folder` that start with `under`. */
type Listing = OwnFolder & { readonly under: string; readonly signal: AbortSignal | undefined };

/** Keys that no store could have written, such as the console's folder markers, are left out. */
export async function* listObjects(listing: Listing): AsyncGenerator<ListedObject> {
  for await (const { Contents = [] } of pagesOf(listing)) {
    for (const { Key = '', Size = 0, ETag = '' } of Contents) {
      const key = Key.slice(listing.folder.length);
      if (isKey(key)) yield { key, sizeBytes: Size, mark: ETag };
    }
  }
}

/** The folders whose keys start with `under`, without those within them. */
export async function* listFolders(listing: Listing): AsyncGenerator<string> {
  for await (const { CommonPrefixes = [] } of pagesOf(listing, { Delimiter: '/' })) {
    for (const { Prefix = '' } of CommonPrefixes) {
      const key = Prefix.slice(listing.folder.length, -1);
      if (isKey(key)) yield key;
    }
  }
}

async function* pagesOf(
  { client, bucket, folder, under, signal }: Listing,
  grouping: { readonly Delimiter?: string } = {},
) {
  checkPrefix(under);
  let token: string | undefined;
  do {
    const next = token === undefined ? {} : { ContinuationToken: token };
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: folder + under,
      ...grouping,
      ...next,
    });
    // Undefined rather than empty: without options the client uses the middleware that it has put together before.
    const page = await client.send(command, signal ? { abortSignal: signal } : undefined);
    yield page;
    token = page.NextContinuationToken;
  } while (token !== undefined);
}
