import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'platform-sync-query-';

/**
 * Makes a folder for this process under the system's folder of temporary files, and removes those of processes that were
 * killed. Only this user can read it. It is removed when it is disposed of.
 */
export async function makeTemporaryFolder(
  parent = tmpdir(),
): Promise<AsyncDisposable & { readonly path: string }> {
  await removeLeftOvers(parent);
  const path = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function removeLeftOvers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = name.startsWith(PREFIX) ? (/^(\d+)-/.exec(name.slice(PREFIX.length)) ?? []) : [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    // Those of other users stay.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
