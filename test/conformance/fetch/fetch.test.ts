import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fetching } from '../engines/engine.ts';
import { byGo } from './go.ts';
import { byMaven, byMavenArchive } from './maven.ts';
import { byPip } from './pip.ts';

let folder: string;
let commands: string[];
let fetching: Fetching;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fetch-'));
  commands = [];
  fetching = {
    folder,
    downloads: '/downloads',
    run: async (command) => void commands.push(command.join(' ').replaceAll(folder, '.')),
  };
});

afterEach(() => rm(folder, { recursive: true }));

test('Maven copies an artifact of a fixed version with all that it needs', async () => {
  await byMaven({ group: 'com.a', artifact: 'b', version: '1.2' })(fetching);

  expect(commands).toEqual([
    'mvn --batch-mode --no-transfer-progress -Dmaven.repo.local=/downloads dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib',
  ]);
  expect(await readFile(join(folder, 'pom.xml'), 'utf8')).toMatch(
    /<groupId>com\.a<\/groupId>\s+<artifactId>b<\/artifactId>\s+<version>1\.2<\/version>/,
  );
});

test('Maven unpacks an archive of a fixed version, and checks its bytes', async () => {
  await byMavenArchive({ group: 'com.a', artifact: 'b', version: '1.2' })(fetching);

  expect(commands).toEqual([
    'mvn --batch-mode --no-transfer-progress --strict-checksums -Dmaven.repo.local=/downloads dependency:copy -Dartifact=com.a:b:1.2:tar.gz -DoutputDirectory=.',
    'tar -xzf b-1.2.tar.gz --strip-components=1',
  ]);
});

test('Go builds each package', async () => {
  await byGo('a.com/b@v1', 'a.com/c@v2')(fetching);

  expect(commands).toEqual(['go install a.com/b@v1', 'go install a.com/c@v2']);
});

test('pip installs into a virtual environment', async () => {
  await byPip('a==1', 'b==2')(fetching);

  expect(commands).toEqual([
    'python3 -m venv ./venv',
    './venv/bin/python -m pip install --quiet --no-compile a==1 b==2',
  ]);
});
