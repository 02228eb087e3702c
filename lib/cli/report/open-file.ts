import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

/** Opens a file with what this machine opens such files with. Never throws. */
export async function openFile(file: string, environment: Environment): Promise<Opened> {
  const opener = openerFor(process.platform, file, environment);
  if ('reason' in opener) return { kind: 'not-opened', ...opener };
  const child = spawn(opener.command, opener.args, { detached: true, stdio: 'ignore' });
  child.unref();
  return once(child, 'spawn').then(
    () => ({ kind: 'opened' }),
    (error: Error) => ({ kind: 'not-opened', reason: error.message }),
  );
}
