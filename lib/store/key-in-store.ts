import { StoreError } from './error.ts';

/** The key in a store at `s3://bucket/prefix` of an object that an event names. Throws if the object is elsewhere. */
export function keyInStore(location: string, bucket: string, objectKey: string): string {
  const root = `${location.replace(/\/$/, '')}/`;
  const address = `s3://${bucket}/${objectKey}`;
  if (address.startsWith(root)) return address.slice(root.length);
  throw new StoreError('find an object of the store', {
    kind: 'bad-location',
    expected: `an object within ${root}`,
    got: address,
  });
}
