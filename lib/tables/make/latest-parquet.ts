import { lastRuns } from '../../model/index.ts';
import { latestParquetFolder } from '../../snapshot/keys.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import { parquetOfRun } from '../made/made-files.ts';

/** How often others may change what is read here before we leave it to the next call. */
const MOST_ROUNDS = 20;

/**
 * Points the table of a source's latest run at the Parquet of the run that `latest.json` names, or if there is none, of
 * its narrowed places, as the model has them: `symlink.txt` lists it, an address a line. Does nothing in a directory,
 * since the addresses are those of S3.
 */
export async function pointAtLatest(store: Store, source: Source): Promise<void> {
  if (!store.location.startsWith('s3://')) return;
  const key = `${latestParquetFolder(source)}symlink.txt`;
  await replaceAsFound(store, key, 'text/plain', () => addressesOfLatest(store, source));
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

/** Undefined if a latest run is damaged, or has not all of its Parquet yet: then what was before stays. */
async function addressesOfLatest(store: Store, source: Source): Promise<Buffer | undefined> {
  let isSound = true;
  const { runs } = await lastRuns(store, [source], () => {
    isSound = false;
  });
  const addresses: string[] = [];
  for (const { place, manifest } of runs)
    for (const file of await parquetOfRun(store, place, manifest)) {
      if (file === undefined) return undefined;
      addresses.push(`${store.location}/${file.key}\n`);
    }
  return isSound && runs.length > 0 ? Buffer.from(addresses.join('')) : undefined;
}
