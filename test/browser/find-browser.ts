import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The usual paths, such as Debian's. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of the browser: that of `CHROMIUM`, or the first of the usual ones; undefined without a browser. */
export const findBrowser = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));

/** A mirror that cannot be reached must not hold up what follows. */
const INSTALL_MS = 150_000;

/** Installs Debian's browser, where that can be done. */
export function installBrowser(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const apt = (...args: readonly string[]) =>
    spawnSync('apt-get', args, { stdio: ['ignore', 2, 2], timeout: INSTALL_MS }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', 'chromium');
  if (!install() && apt('update')) install();
}
