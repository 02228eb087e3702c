import { mkdir, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { collectDigest } from '../../lib/report/digest/digest.ts';
import { publishedRuns } from '../../lib/snapshot/manifest.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { connect, contextOver } from '../report/mcp/connect.ts';
import { monday, publishLines } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createFakeTerminal } from './fake-terminal.ts';

const hooks = registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== '@duckdb/node-api') return next(specifier, context);
    throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});

afterAll(() => hooks.deregister());

const folder = folderOfEach();
const NOT_INSTALLED = /^platform-sync: DuckDB is not installed: npm install @duckdb\/node-api@/gm;

test('without DuckDB, everything except SQL works: report, where-used, the digest and the tools for assistants', async () => {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines: ['{"id":1,"name":"Revenue"}'] });
  const { terminal, err } = createFakeTerminal({ SYNC_STORE: 'memory' });
  const codeOf = (...argv: readonly string[]) =>
    runCommandLine(argv, { ...terminal, openStore: async () => store });
  const [run] = await publishedRuns(store, 'calculations');
  if (run === undefined) throw new Error('expected a run');
  await using server = await connect(contextOver(store));

  expect(await codeOf('query', 'SELECT 1')).toBe(2);
  await mkdir(join(folder.path, 'rules'));
  await writeFile(join(folder.path, 'rules', 'a.sql'), 'SELECT 1');
  expect(await codeOf('check', join(folder.path, 'rules'))).toBe(2);
  expect(err().match(NOT_INSTALLED)).toHaveLength(2);
  expect(err()).toContain('DuckDB is not installed: npm install @duckdb/node-api@');
  expect(await codeOf('report', '--output', join(folder.path, 'report.html'))).toBe(0);
  expect(await codeOf('where-used', '1')).toBe(0);
  expect(await server.call('where_used', { id: '1' })).toMatchObject({ isError: false });
  expect(await collectDigest({ store, place: 'calculations', run: run.run })).toMatchObject({ broken: {} });
});
