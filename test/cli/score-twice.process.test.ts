import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { bareEnvironment } from '../compile-cache.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { settingsOf } from './run-command.ts';

/* With only a folder, two concurrent commands keep the same promises as one: they share the cache, the rate and the batch. */

const TEXTS = 200;
const RATE = 40;

const folder = folderOfEach();

test('two concurrent score commands pay for each text once, at one rate', {
  timeout: 120_000,
}, async () => {
  const small = { calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0 };
  await using platform = await startPlatform(small);
  const file = join(folder.path, 'texts.csv');
  const texts = Array.from({ length: TEXTS }, (_, index) => `text ${index}`);
  await writeFile(file, `text\n${texts.join('\n')}\n`);
  const env = {
    ...bareEnvironment,
    ...settingsOf(platform, join(folder.path, 'store')),
    PLATFORM_RATE: String(RATE),
  };
  const score = (batch: string) =>
    promisify(execFile)(
      process.execPath,
      ['bin/platform-sync.js', 'score', file, '--text', 'text', '--batch', batch, '--json'],
      { env },
    );
  const startedMs = performance.now();

  const ended = await Promise.all([score('one'), score('two')]);

  const seconds = (performance.now() - startedMs) / 1_000;
  for (const { stdout } of ended) expect(JSON.parse(stdout)).toMatchObject({ scored: TEXTS, failed: 0 });
  expect(Object.values(platform.counts().sentimentCalls)).toEqual(Array.from({ length: TEXTS }, () => 1));
  expect(TEXTS / seconds).toBeLessThan(RATE);
});
