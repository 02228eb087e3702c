import { createHash } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createBoundary, withPieces } from './boundary.ts';
import { createDirectoryWriter, findOccupant } from './directory-writer.ts';
import { errorCode, StoreError, type StoreFailure, unlessCode } from './error.ts';
import { checkKey, checkPrefix, compareKeys, isKey } from './key.ts';
import { type ListedObject, MAX_OBJECT_BYTES, type Store } from './store.ts';

/**
 * Opens a store whose objects are files under `directory`, which the first put creates. An object's etag is the SHA-256
 * of its content in hex; content types are not stored. All writers must share the file system. On a
 * case-insensitive file system, keys that differ only in case are one object.
 */
export function createDirectoryStore(directory: string): Store {
  const root = resolve(directory);
  const { run, each } = createBoundary(root, explainFileError);
  const write = createDirectoryWriter(root);
  return {
    location: root,
    get: (key, { maxBytes = MAX_OBJECT_BYTES, signal } = {}) =>
      run(`get ${key}`, signal, (tried) => readObject(root, key, { tried, maxBytes, signal })),
    stream: (key, { signal } = {}) =>
      run(`stream ${key}`, signal, async () =>
        (await hasObject(root, key)) ? each(`stream ${key}`, signal, () => readChunks(root, key)) : undefined,
      ),
    put: (key, body, options = {}) => run(`put ${key}`, options.signal, () => write.put(key, body, options)),
    putStream: (key, pieces, { signal } = {}) =>
      withPieces(pieces, (watched) => run(`put ${key}`, signal, () => write.putStream(key, watched, signal))),
    copy: (from, to, { signal } = {}) =>
      run(`copy ${from} to ${to}`, signal, () => write.copy(from, to, signal)),
    list: (prefix, { signal } = {}) => each(`list ${prefix}*`, signal, () => listDirectory(root, prefix)),
    folders: (prefix, { signal } = {}) =>
      each(`list folders ${prefix}*`, signal, () => listFolders(root, prefix)),
    fileOf: (key) => run(`find ${key}`, undefined, () => findFile(root, key)),
    delete: (key, { signal } = {}) => run(`delete ${key}`, signal, () => write.delete(key, signal)),
  };
}

async function hasObject(root: string, key: string): Promise<boolean> {
  checkKey(key);
  return (await findOccupant(root, key)).kind === 'object';
}

async function findFile(root: string, key: string) {
  if (!(await hasObject(root, key))) return undefined;
  const path = join(root, key);
  const found = await stat(path).catch(unlessCode(['ENOENT'], undefined));
  return found && { path, sizeBytes: found.size };
}

async function readObject(
  root: string,
  key: string,
  options: {
    readonly tried: string;
    readonly maxBytes: number;
    readonly signal: AbortSignal | undefined;
  },
) {
  const { tried, maxBytes, signal } = options;
  if (!(await hasObject(root, key))) return undefined;
  await using file = await openObject(root, key).catch(unlessCode(['ENOENT'], undefined));
  if (file === undefined) return undefined;
  const { size: sizeBytes } = await file.stat();
  if (sizeBytes > maxBytes) throw new StoreError(tried, { kind: 'too-large', maxBytes, sizeBytes });
  const body = await file.readFile(signal ? { signal } : {});
  return { body, etag: createHash('sha256').update(body).digest('hex') };
}

// The file is opened only when the first chunk is requested, so that a stream that is never read keeps no file open.
async function* readChunks(root: string, key: string): AsyncGenerator<Uint8Array> {
  await using file = await openObject(root, key);
  for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: CHUNK_BYTES }))
    yield chunk;
}

const CHUNK_BYTES = 256 * 1024;

// An open file keeps its version of the object, even if another file is renamed to its name.
const openObject = (root: string, key: string) =>
  open(join(root, key), constants.O_RDONLY | constants.O_NOFOLLOW);

function explainFileError(error: unknown): StoreFailure {
  const code = errorCode(error) ?? 'unknown';
  switch (code) {
    case 'ENOENT':
      // ENOENT from mkdir means that the folder cannot be created here, not that an object is missing.
      return isOfMkdir(error) ? { kind: 'denied', code } : { kind: 'missing', what: 'object' };
    case 'EACCES':
    case 'EPERM':
      return { kind: 'denied', code };
    case 'EROFS':
      return { kind: 'read-only', code };
    case 'ENOSPC':
    case 'EDQUOT':
      return { kind: 'full', code };
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
    case 'ENOTEMPTY':
      return { kind: 'key-conflict', occupant: 'an object or a folder of the same name' };
    default:
      return { kind: 'other', code };
  }
}

const isOfMkdir = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'mkdir';

/**
 * Lists objects in byte order, without a lock, and with only the names of one folder in memory. Skips files whose names
 * cannot be keys.
 */
async function* listDirectory(root: string, prefix: string): AsyncGenerator<ListedObject> {
  if (await mayHold(root, prefix)) yield* walk(root, prefix);
}

/** The folders under `root` whose keys start with `prefix`, but no folders within them. */
async function* listFolders(root: string, prefix: string): AsyncGenerator<string> {
  if (!(await mayHold(root, prefix))) return;
  for (const { key, isFolder } of await entriesOf(root, prefix)) if (isFolder) yield key;
}

/**
 * Whether the folder of a prefix can have objects. False if it does not exist, is not a folder, or is behind a
 * link.
 */
async function mayHold(root: string, prefix: string): Promise<boolean> {
  checkPrefix(prefix);
  const folder = folderOf(prefix);
  return folder === '' || (await findOccupant(root, folder.slice(0, -1))).kind === 'folder';
}

const folderOf = (prefix: string) => prefix.slice(0, prefix.lastIndexOf('/') + 1);

async function* walk(root: string, prefix: string): AsyncGenerator<ListedObject> {
  for (const { key, isFolder } of await entriesOf(root, prefix))
    if (isFolder) yield* walk(root, `${key}/`);
    else yield* listOne(root, key);
}

async function entriesOf(root: string, prefix: string) {
  const folder = folderOf(prefix);
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
    unlessCode<Dirent[]>(['ENOENT'], []),
  );
  return entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => ({ key: folder + entry.name, isFolder: entry.isDirectory() }))
    .filter(({ key }) => key.startsWith(prefix) && isKey(key))
    .sort((a, b) => compareKeys(sortKey(a), sortKey(b)));
}

// The keys in a folder continue with a slash, so "a-b" sorts before the folder "a", and "a0" after it.
const sortKey = ({ key, isFolder }: { readonly key: string; readonly isFolder: boolean }): string =>
  isFolder ? `${key}/` : key;

async function* listOne(root: string, key: string): AsyncGenerator<ListedObject> {
  const stats = await lstat(join(root, key), { bigint: true }).catch(
    unlessCode(['ENOENT', 'ENOTDIR'], undefined),
  );
  if (!stats?.isFile()) return;
  // Each put renames a new file to the key, so the inode changes too.
  const { size, mtimeNs, ino } = stats;
  yield {
    key,
    sizeBytes: Number(size),
    mark: `${mtimeNs}-${ino}-${size}`,
    storedMs: Number(mtimeNs / 1_000_000n),
  };
}
