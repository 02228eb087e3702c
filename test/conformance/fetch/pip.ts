import { join } from 'node:path';
import type { Fetching } from '../engines/engine.ts';

/**
 * Installs packages of Python, such as `moto[server]==5.2.5`, into a virtual environment at `venv/`. Start them by
 * `venv/bin/python -m NAME`: the scripts beside it name the folder in which they were installed, which is renamed.
 */
export const byPip =
  (...packages: readonly string[]) =>
  async ({ folder, downloads, run }: Fetching): Promise<void> => {
    const venv = join(folder, 'venv');
    await run(['python3', '-m', 'venv', venv]);
    const environment = { PIP_CACHE_DIR: downloads, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
    await run([join(venv, 'bin', 'python'), '-m', 'pip', 'install', '--quiet', '--no-compile', ...packages], {
      environment,
    });
  };
