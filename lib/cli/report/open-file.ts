import { spawn } from 'node:child_process';
import type { Environment } from '../../settings.ts';

export type Opened = { readonly kind: 'opened' } | { readonly kind: 'not-opened'; readonly reason: string };

/** The command that opens a file, or why there is none, in words. */
export type Opener =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly reason: string };

/** What opens a file on a platform, as `process.platform` names it. */
export function openerFor(platform: string, file: string, environment: Environment): Opener {
  if (platform === 'darwin') return { command: 'open', args: [file] };
  // Unlike `start`, it is no command of a shell, which would read `&` and `%` in the name.
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', file] };
  const isSeen = ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME'].some((name) => environment[name]);
  if (!isSeen) return { reason: 'this machine has no screen (neither DISPLAY nor WAYLAND_DISPLAY is set)' };
  return { command: 'xdg-open', args: [file] };
}

/** How long an opener may take to fail: one that opens may go on for as long as the browser is open. */
const FAILS_WITHIN_MS = 3_000;

/** Opens a file with what this machine opens such files with. Never throws. */
export async function openFile(file: string, environment: Environment): Promise<Opened> {
  const opener = openerFor(process.platform, file, environment);
  return 'reason' in opener ? { kind: 'not-opened', ...opener } : start(opener);
}

function start({ command, args }: Exclude<Opener, { readonly reason: string }>): Promise<Opened> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => resolve({ kind: 'opened' }), FAILS_WITHIN_MS);
    const end = (opened: Opened) => {
      clearTimeout(timer);
      resolve(opened);
    };
    child.on('error', (error) => end({ kind: 'not-opened', reason: error.message }));
    child.on('exit', (code) =>
      end(
        code === 0
          ? { kind: 'opened' }
          : { kind: 'not-opened', reason: `${command} ended with ${code ?? 'a signal'}` },
      ),
    );
    child.unref();
  });
}
