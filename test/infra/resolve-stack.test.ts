import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bundleOf, mapsOf } from '../../infra/bundles.ts';
import { resolveStack } from '../../infra/resolve-stack.ts';
import { bareEnvironment } from '../compile-cache.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { createHandlerProcess } from '../local-aws/functions/create-handler-process.ts';

const folder = folderOfAll();

beforeAll(async () => {
  for (const [name, bytes] of Object.entries(bundleOf('split-texts')))
    await writeFile(join(folder, name), bytes);
});

/** The line that the deployed bundle logs when its settings are invalid. */
async function failedLine(): Promise<string> {
  const lines: string[] = [];
  await using bundle = createHandlerProcess({
    file: join(folder, 'index.mjs'),
    environment: { ...bareEnvironment, PLATFORM_BASE_URL: 'acme' },
    timeoutMs: 30_000,
    onLog: (line) => void lines.push(line),
  });
  await bundle.invoke({ detail: { bucket: { name: 'b' }, object: { key: 'k' } } }).catch(() => undefined);
  return lines.find((line) => line.includes('invocation failed')) ?? '';
}

test('an error of the minified bundle is logged with its type, and its stack leads to the sources', async () => {
  const line = await failedLine();

  expect(JSON.parse(line).err).toMatchObject({
    type: 'SettingsError',
    message: expect.stringContaining('PLATFORM_BASE_URL'),
    stack: expect.stringMatching(/index\.mjs:\d+:\d+/),
  });
  const { text, unknown } = resolveStack(line, 'split-texts');
  expect(unknown).toEqual([]);
  expect(text).toMatch(/\n {4}at .*lib\/settings\.ts:\d+:\d+/);
  expect(text).toMatch(/\n {4}at .*functions\/split-texts\/handler\.ts:\d+:\d+/);
  expect(text).not.toMatch(/\.mjs:\d/);
});

test('stack frames are unchanged if the bundle does not have their files, and these files are named', () => {
  const frame = 'at e (/var/task/chunk-OLD.mjs:1:2)';

  expect(resolveStack(frame, 'split-texts')).toEqual({ text: frame, unknown: ['chunk-OLD.mjs'] });
});

test('source maps match the deployed files, are not deployed themselves, and do not depend on the folder of the build', () => {
  const code = bundleOf('split-texts');
  const maps = mapsOf('split-texts');

  expect(Object.keys(maps).sort()).toEqual(Object.keys(code).sort());
  expect(Object.keys(code).filter((name) => !name.endsWith('.mjs'))).toEqual([]);
  for (const bytes of Object.values(code))
    expect(Buffer.from(bytes).includes('sourceMappingURL')).toBe(false);
  const sources = Object.values(maps).flatMap((bytes) => JSON.parse(Buffer.from(bytes).toString()).sources);
  expect(sources).toContain('../lib/settings.ts');
  expect(sources.filter((source) => !/^(?:\.\.\/|builtin:node:)/.test(source))).toEqual([]);
});
