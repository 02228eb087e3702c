import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { monday } from '../snapshot/changes/publish-lines.ts';
import { publishParquet } from './duckdb/publish-parquet.ts';

/*
 * Runs the examples of docs/parquet.md unchanged over a published run whose ids no double can hold exactly. An example
 * begins with a comment: the name of its reader, or `inexact`.
 */

const { pythonReaders, spark } = enginesOf(process.env);

/** Spark takes half a minute to start on a busy machine. */
const SPARK_MS = 300_000;

/** The two ids of the run. */
const IDS = ['9007199254740995', '123456789012345678901234567890'];

const examples = [
  ...readFileSync('docs/parquet.md', 'utf8').matchAll(/```python\n# ([^\n]*)\n([\s\S]*?)```/g),
].map(([, about = '', code = '']) => ({ about, code, isSpark: code.includes('pyspark') }));

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'readers-'));
  await publishParquet(createDirectoryStore(join(folder, 'platform-sync-data')), {
    run: monday,
    lines: IDS.map((id, at) => `{"id":${id},"name":"${at}"${at === 0 ? ',"created":1700000000123' : ''}}`),
  });
});

afterAll(() => rm(folder, { recursive: true }));

/** The output of an example. */
function printed(code: string, command: readonly [string, ...string[]] | undefined): string {
  const [program, ...words] = command ?? [];
  if (program === undefined) throw new Error('expected an engine');
  const { stdout, stderr, status } = spawnSync(program, [...words, '-c', code], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr.slice(-2_000));
  return stdout;
}

const ofEngine = examples.filter(({ isSpark }) => isSpark === (spark !== undefined));
const isInexact = ({ about }: { readonly about: string }) => about.startsWith('inexact');

test('the docs have at least ten examples for readers of Parquet and of parts', () => {
  expect(examples.length).toBeGreaterThanOrEqual(10);
});

describe('a reader reads each value exactly, as the docs say:', () => {
  test.each(ofEngine.filter((each) => !isInexact(each)))(
    '$about',
    ({ code }) => {
      const text = printed(code, (spark ?? pythonReaders)?.command);

      for (const id of IDS) expect(text).toContain(id);
      // Parquet has times, and the run from the folder's name.
      if (code.includes('created_at')) {
        expect(text).toContain(monday.id);
        expect(text).toMatch(/2023[-, ]+11[-, ]+14/);
      }
    },
    SPARK_MS,
  );
});

describe.skipIf(spark !== undefined)('a reader changes some values, as the docs say:', () => {
  test.each(ofEngine.filter(isInexact))('$about', ({ code }) => {
    const text = printed(code, pythonReaders?.command);

    expect(text).not.toContain('9007199254740995');
    expect(text).toContain('9007199254740996');
  });
});
