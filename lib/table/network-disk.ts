import { execFile } from 'node:child_process';
import { realpath, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The names of network file systems by their type numbers in Linux (statfs(2), linux/magic.h). */
const NETWORK_TYPES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'CIFS',
  16914839: '9p',
  12805120: 'Ceph',
  1702057286: 'FUSE',
  1397113167: 'AFS',
};

/** The names of network file systems in macOS's `mount`. */
const NETWORK_NAMES = /^(nfs|smbfs|afpfs|webdav|ftp|cifs|macfuse|osxfuse|fuse)/;

/**
 * The kind of network disk that a folder is on; undefined for a disk of this machine. Locks on a network disk
 * are not reliable.
 */
export async function networkOf(folder: string, platform = process.platform): Promise<string | undefined> {
  const path = await realpath(folder);
  if (platform === 'win32')
    return /^\\\\(?![?.]\\)|^\\\\\?\\UNC\\/i.test(path) ? 'a network share' : undefined;
  if (platform === 'darwin') {
    const { stdout } = await promisify(execFile)('/sbin/mount');
    return networkIn(stdout, path);
  }
  const name = NETWORK_TYPES[(await statfs(path)).type];
  return name && `a network disk (${name})`;
}

/**
 * The kind of network disk of a path, from the lines of macOS's `mount`, such as `//a@host/share on
 * /Volumes/share (smbfs, nodev)`.
 */
function networkIn(mounts: string, path: string): string | undefined {
  const found = mounts
    .split('\n')
    .map((line) => / on (.+) \(([^,)]+)/.exec(line))
    .map((match) => ({ at: match?.[1] ?? '', kind: match?.[2] ?? '' }))
    .filter(({ at }) => at === '/' || path === at || (at !== '' && path.startsWith(`${at}/`)))
    .toSorted((a, b) => b.at.length - a.at.length)[0];
  return found !== undefined && NETWORK_NAMES.test(found.kind) ? `a network disk (${found.kind})` : undefined;
}
