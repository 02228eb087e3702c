import { join } from 'node:path';
import type { Fetching } from '../engines/engine.ts';

/** Builds programs into `bin/`, each from a package of a module, such as `github.com/a/b/cmd/b@v1.0.0`. */
export const byGo =
  (...packages: readonly string[]) =>
  async ({ folder, downloads, run }: Fetching): Promise<void> => {
    const environment = {
      GOBIN: join(folder, 'bin'),
      GOPATH: downloads,
      GOCACHE: join(downloads, 'build'),
      // Go's module cache is read-only otherwise, and so could not be removed.
      GOFLAGS: '-modcacherw -trimpath',
    };
    for (const each of packages) await run(['go', 'install', each], { environment });
  };
