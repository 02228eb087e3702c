import { latestParquetFolder, type Place } from '../../snapshot/keys.ts';
import { manifestOf, readLatest } from '../../snapshot/manifest.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { parquetOfRun } from '../made/made-files.ts';

/** How often others may change what is read here before we leave it to the next call. */
const MOST_ROUNDS = 20;

/**
 * Points the table of a place's latest run at the Parquet of the run that `latest.json` names: `symlink.txt` lists it, an
 * address a line. Does nothing in a directory, since the addresses are those of S3.
 */
export async function pointAtLatest(store: Store, place: Place): Promise<void> {
  if (!store.location.startsWith('s3://')) return;
  const key = `${latestParquetFolder(place)}symlink.txt`;
  await replaceAsFound(store, key, 'text/plain', () => addressesOfLatest(store, place));
}

/**
 * Replaces an object by what `bodyOf` reads, only as it was before that was read, so a slow maker never puts an older
 * one there. Does nothing if it is the same, or undefined.
 */
export async function replaceAsFound(
  store: Store,
  key: string,
  contentType: string,
  bodyOf: () => Promise<Buffer | undefined>,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const before = await store.get(key);
    const body = await bodyOf();
    if (body === undefined || before?.body.equals(body)) return;
    const condition = before === undefined ? ({ ifAbsent: true } as const) : { ifMatch: before.etag };
    const put = await store.put(key, body, { condition, contentType });
    if (put.kind === 'stored') return;
  }
}

/** Undefined if the latest run has not all of its Parquet yet: then the one before stays. */
async function addressesOfLatest(store: Store, place: Place): Promise<Buffer | undefined> {
  try {
    const latest = await readLatest(store, place);
    if (latest === undefined) return undefined;
    const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
    const files = (await parquetOfRun(store, place, manifest)).filter((file) => file !== undefined);
    if (files.length < manifest.parts.length) return undefined;
    return Buffer.from(files.map(({ key }) => `${store.location}/${key}\n`).join(''));
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}
