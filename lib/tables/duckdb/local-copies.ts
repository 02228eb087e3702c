import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

export type DataFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** True if something was missing or damaged and is not in it. Default: false. */
  readonly isPartial?: boolean | undefined;
};

/** A file in the temporary folder that stands for something in the store; `undefined` if that is missing or damaged. */
type Made = Promise<DataFile | undefined>;

/** The files in the temporary folder, by what they stand for: later queries of a session use them again. */
export type LocalCopies = {
  /** The copy of `name`, which `make` writes to `path` if there is none. */
  readonly get: (name: string, make: (path: string) => Made) => Made;
  readonly sizeBytes: () => number;
  /** Says that a query is using them until this is disposed of. */
  readonly use: () => Disposable;
  /** Deletes all of them, unless more than one query is using them: then false. */
  readonly clear: () => Promise<boolean>;
};

export function createLocalCopies(folder: string): LocalCopies {
  const copies = new Map<string, Made>();
  const paths: string[] = [];
  let [sizeBytes, users] = [0, 0];
  return {
    get(name, make) {
      const known = copies.get(name);
      if (known !== undefined) return known;
      const path = join(folder, hash('sha256', `${paths.length} ${name}`));
      paths.push(path);
      const made = make(path).then((file) => {
        // What is damaged is reported to each query that reads it.
        if (file === undefined || file.isPartial === true) copies.delete(name);
        sizeBytes += file?.sizeBytes ?? 0;
        return file;
      });
      copies.set(name, made);
      made.catch(() => copies.delete(name));
      return made;
    },
    sizeBytes: () => sizeBytes,
    use() {
      users += 1;
      return {
        [Symbol.dispose]() {
          users -= 1;
        },
      };
    },
    async clear() {
      if (users > 1) return false;
      await Promise.allSettled(copies.values());
      copies.clear();
      sizeBytes = 0;
      for (const path of paths.splice(0)) await rm(path, { force: true });
      return true;
    },
  };
}
