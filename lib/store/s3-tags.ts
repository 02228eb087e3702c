import { GetObjectTaggingCommand, PutObjectTaggingCommand } from '@aws-sdk/client-s3';
import { readAwsFault } from '../base/index.ts';
import type { OwnFolder } from './s3-list.ts';
import type { Tag } from './store.ts';

/** How many objects are tagged at the same time. */
const AT_ONCE = 8;

/** Gives objects of the folder this tag in place of all others. One that is gone is left out. */
export async function tagObjects(
  { client, bucket, folder }: OwnFolder,
  keys: AsyncIterable<string>,
  { name, value }: Tag,
  signal: AbortSignal | undefined,
): Promise<void> {
  const options = signal === undefined ? {} : { abortSignal: signal };
  const tags = { TagSet: [{ Key: name, Value: value }] };
  async function tag(key: string): Promise<void> {
    const command = new PutObjectTaggingCommand({ Bucket: bucket, Key: folder + key, Tagging: tags });
    await client.send(command, options).catch(unlessGone);
  }
  let some: string[] = [];
  for await (const key of keys) {
    some.push(key);
    if (some.length < AT_ONCE) continue;
    await Promise.all(some.map(tag));
    some = [];
  }
  await Promise.all(some.map(tag));
}

/** The value of an object's tag; undefined if it has none of this name, or if there is no object. */
export async function readTag(
  { client, bucket, folder }: OwnFolder,
  key: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const command = new GetObjectTaggingCommand({ Bucket: bucket, Key: folder + key });
  const found = await client.send(command, signal ? { abortSignal: signal } : undefined).catch(unlessGone);
  return found?.TagSet?.find(({ Key }) => Key === name)?.Value;
}

function unlessGone(error: unknown): undefined {
  if (readAwsFault(error).code !== 'NoSuchKey') throw error;
}
