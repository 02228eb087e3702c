import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The usual paths of a browser, such as Debian's. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of the browser: `CHROMIUM`, or the first of the usual paths that exists; undefined without a browser. */
export const findBrowser = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));

/** Timeout of the installation: an unreachable mirror must not delay the next steps. */
const INSTALL_MS = 150_000;

/** Installs Debian's browser, if possible. */
export function installBrowser(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const apt = (...args: readonly string[]) =>
    spawnSync('apt-get', args, { stdio: ['ignore', 2, 2], timeout: INSTALL_MS }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', 'chromium');
  if (!install() && apt('update')) install();
}
