import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

/** A folder of each test's own, which is gone after it: `path` is that of the test that runs. Called before other hooks. */
export function folderOfEach(): { readonly path: string } {
  const folder = { path: '' };
  beforeEach(async () => {
    folder.path = await mkdtemp(join(tmpdir(), 'test-'));
  });
  afterEach(() => rm(folder.path, { recursive: true }));
  return folder;
}

/** The path of a folder for all tests of a file, which is gone after the last. */
export function folderOfAll(): string {
  const path = mkdtempSync(join(tmpdir(), 'tests-'));
  afterAll(() => rmSync(path, { recursive: true }));
  return path;
}
