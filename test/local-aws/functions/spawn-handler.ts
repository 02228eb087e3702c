import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../lib/settings.ts';

export type SpawnOptions = {
  readonly file: string;
  readonly environment: Environment;
  readonly memoryMb: number;
  /** Folders that the process may write to, apart from its own temporary one. */
  readonly writable: readonly string[];
};

/** A process that runs `handler-process.ts` for a handler's file. */
export type HandlerChild = {
  readonly child: ChildProcess;
  /** How the process ended. Fulfilled once its output has been read and its temporary folder was removed. */
  readonly exit: Promise<string>;
};

/**
 * Starts a handler's process with Lambda's restrictions: the file system is read-only except for a temporary folder of
 * its own, which TMPDIR names and which is removed with the process. A write elsewhere throws ERR_ACCESS_DENIED, where
 * Lambda's file system throws EROFS; on Lambda the folder is /tmp and holds 512 MB, while this one has no limit. Stricter
 * than Lambda: child processes, native addons and WASI are denied too, because they would escape.
 *
 * The process ends with this one, however this one ends, even while it is stopped: a stopped process never learns that
 * its channel was closed, and the kernel continues it only under a job-control shell. So a guard waits beside it.
 */
export function spawnHandler(options: SpawnOptions): HandlerChild {
  // The permission model resolves no symbolic links, and the temporary folder of macOS is behind one.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'lambda-'));
  const [command, ...args] = [
    ...(MAY_FREEZE ? GUARDED : []),
    process.execPath,
    ...nodeArguments(options, folder),
  ];
  const child = spawn(command ?? '', args, {
    env: { ...options.environment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    // A new process group: its id cannot be reused by another process while the guard is in it.
    detached: MAY_FREEZE,
  });
  const exit = awaitExit(child).finally(async () => {
    dismissGuard(child.stdio[GUARD_FD] as Writable | null | undefined);
    await rm(folder, { recursive: true, force: true });
  });
  return { child, exit };
}

/** Windows has no signals that stop and continue a process: there it keeps running between invocations. */
export const MAY_FREEZE = process.platform !== 'win32';

const GUARD_FD = 4;

/**
 * A shell script that becomes the process and starts a guard, which reads from a pipe of the parent. A line ends the
 * guard. The end of the pipe means that the parent has ended: then the guard kills the process and removes the folder.
 */
const GUARD = [
  `(exec 1>&- 2>&- 3>&-; read -r line <&${GUARD_FD} || { kill -KILL $$; /bin/rm -rf -- "$TMPDIR"; }) &`,
  // Remove what a shell adds to the environment.
  `exec ${GUARD_FD}<&-; unset PWD OLDPWD SHLVL; exec "$0" "$@"`,
].join('\n');

const GUARDED = ['/bin/sh', '-c', GUARD];

function dismissGuard(guard: Writable | null | undefined): void {
  guard?.on('error', () => undefined).end('\n');
}

const HANDLER_PROCESS = fileURLToPath(new URL('./handler-process.ts', import.meta.url));

const nodeArguments = ({ file, memoryMb, writable }: SpawnOptions, folder: string): readonly string[] => [
  // Lambda's share for long-lived objects.
  `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
  '--permission',
  '--allow-fs-read=*',
  ...[folder, ...writable.map((path) => resolve(path))].map((path) => `--allow-fs-write=${join(path, '*')}`),
  '--allow-fs-write=/dev/null',
  '--allow-worker',
  // This warning says that workers might escape the permissions.
  '--disable-warning=PERM0006',
  HANDLER_PROCESS,
  file,
];

/** How the process ended, once everything it sent has been read: it may reply and then exit immediately. */
async function awaitExit(child: ChildProcess): Promise<string> {
  try {
    const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    return signal === null ? `exit code ${code}` : `signal ${signal}`;
  } catch (error) {
    return String(error);
  }
}
