import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fetching } from './engine.ts';

/** Builds Go programs into `bin/`, each from a package such as `github.com/a/b/cmd/b@v1.0.0`. */
export const byGo =
  (...packages: readonly string[]) =>
  async ({ folder, downloads, run }: Fetching): Promise<void> => {
    const environment = {
      GOBIN: join(folder, 'bin'),
      GOPATH: downloads,
      GOCACHE: join(downloads, 'build'),
      // By default Go's module cache is read-only, and could not be removed.
      GOFLAGS: '-modcacherw -trimpath',
    };
    for (const each of packages) await run(['go', 'install', each], { environment });
  };

/**
 * Installs Python packages, such as `moto[server]==5.2.5`, into a virtual environment at `venv/`. Start them by
 * `venv/bin/python -m NAME`: the scripts next to it contain the path of the folder, which is renamed later.
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

type Artifact = { readonly group: string; readonly artifact: string; readonly version: string };

const maven = ({ folder, downloads, run }: Fetching, ...words: readonly string[]): Promise<void> =>
  run(['mvn', '--batch-mode', '--no-transfer-progress', `-Dmaven.repo.local=${downloads}`, ...words], {
    folder,
  });

/** Copies a Maven artifact and its runtime dependencies into `lib/`, including native libraries. */
export const byMaven =
  (artifact: Artifact) =>
  async (fetching: Fetching): Promise<void> => {
    await writeFile(join(fetching.folder, 'pom.xml'), pomOf(artifact));
    await maven(fetching, 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib');
  };

/** Unpacks a Maven artifact in `tar.gz` format into the folder, without its top-level folder. */
export const byMavenArchive =
  ({ group, artifact, version }: Artifact) =>
  async (fetching: Fetching): Promise<void> => {
    const { folder, run } = fetching;
    const wanted = `-Dartifact=${group}:${artifact}:${version}:tar.gz`;
    await maven(fetching, '--strict-checksums', 'dependency:copy', wanted, '-DoutputDirectory=.');
    const archive = `${artifact}-${version}.tar.gz`;
    await run(['tar', '-xzf', archive, '--strip-components=1'], { folder });
    await rm(join(folder, archive), { force: true });
  };

const pomOf = ({ group, artifact, version }: Artifact): string => `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>conformance</groupId>
  <artifactId>engine</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${artifact}</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`;
