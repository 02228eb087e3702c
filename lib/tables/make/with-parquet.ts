import type { Store } from '../../store/store.ts';
import { fileName, filesIn, isMade, type RecordedMade, readMade } from '../made/made-files.ts';
import type { ParquetInStore } from '../made/parquet-of-run.ts';
import type { FileToMake } from './make-folder.ts';

/** A file that a folder is to have, and its Parquet if that has the same rows as the lines. */
export type WithParquet<File> = { readonly file: File; readonly parquet: ParquetInStore | undefined };

/** The files that a folder of Parquet is to have, with those that it has as they would be made now. */
export async function withParquet<File extends FileToMake>(
  store: Pick<Store, 'get' | 'list' | 'location'>,
  folder: string,
  filesOf: (recorded: RecordedMade) => AsyncIterable<File> | Iterable<File>,
): Promise<readonly WithParquet<File>[]> {
  const recorded = await readMade(store, folder);
  const stored = recorded.isKnown ? await filesIn(store, folder) : new Map();
  const found: WithParquet<File>[] = [];
  for await (const file of filesOf(recorded)) {
    const index = found.length;
    const key = `${folder}${fileName(index)}`;
    const known = recorded.files[index];
    const { sha256 = null, bytes = 0 } = known ?? {};
    const isUsable = sha256 !== null && isMade(store, known, { of: file.of, stored: stored.get(key) });
    found.push({ file, parquet: isUsable ? { key, bytes, sha256 } : undefined });
  }
  return found;
}
