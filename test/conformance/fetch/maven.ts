import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fetching } from '../engines/engine.ts';

export type Artifact = { readonly group: string; readonly artifact: string; readonly version: string };

/** Copies an artifact and all that it needs at run time into `lib/`, native libraries too. */
export const byMaven =
  (artifact: Artifact) =>
  async ({ folder, downloads, run }: Fetching): Promise<void> => {
    await writeFile(join(folder, 'pom.xml'), pomOf(artifact));
    await run(
      [
        'mvn',
        '--batch-mode',
        '--no-transfer-progress',
        `-Dmaven.repo.local=${downloads}`,
        'dependency:copy-dependencies',
        '-DincludeScope=runtime',
        '-DoutputDirectory=lib',
      ],
      { folder },
    );
  };

/** Unpacks an artifact that is a `tar.gz` into the folder, without the folder that all of it is in. */
export const byMavenArchive =
  (wanted: Artifact) =>
  async ({ folder, downloads, run }: Fetching): Promise<void> => {
    const { group, artifact, version } = wanted;
    await run(
      [
        'mvn',
        '--batch-mode',
        '--no-transfer-progress',
        '--strict-checksums',
        `-Dmaven.repo.local=${downloads}`,
        'dependency:copy',
        `-Dartifact=${group}:${artifact}:${version}:tar.gz`,
        '-DoutputDirectory=.',
      ],
      { folder },
    );
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
