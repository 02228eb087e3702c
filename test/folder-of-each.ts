import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

/** Creates a folder for each test, and removes it afterwards. `path`: that of the current test. Call it before other hooks. */
export function folderOfEach(): { readonly path: string } {
  const folder = { path: '' };
  beforeEach(async () => {
    folder.path = await mkdtemp(join(tmpdir(), 'test-'));
  });
  afterEach(() => rm(folder.path, { recursive: true }));
  return folder;
}

/** Creates a folder for all tests of a file, which is removed after the last one. Returns its path. */
export function folderOfAll(): string {
  const path = mkdtempSync(join(tmpdir(), 'tests-'));
  afterAll(() => rmSync(path, { recursive: true }));
  return path;
}
