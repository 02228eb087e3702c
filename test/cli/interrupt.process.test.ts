import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { json, startServer } from '../platform/scripted-server.ts';
import { beginCommand, publishedIn, runCommand, settingsOf as settingsFor } from './run-command.ts';
import { spawnCommand } from './spawn-command.ts';

const TOKEN = 'sandbox-token';
const FILESET = '2d9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c33';

const folder = folderOfEach();

const settingsOf = ({ url }: Pick<Sandbox, 'url'>) => settingsFor({ url, token: TOKEN }, folder.path);

const run = (sandbox: Pick<Sandbox, 'url'>, argv: readonly string[], input = '') =>
  runCommand(argv, settingsOf(sandbox), input);

/** Resolves once the sandbox has received this number of requests. */
const requested = (sandbox: Sandbox, count: number) =>
  vi.waitFor(() => expect(sandbox.counts().requests).toBeGreaterThanOrEqual(count), {
    interval: 2,
    timeout: 10_000,
  });

const resumeArgs = (err: string): readonly string[] =>
  /^stopped; to resume: platform-sync (.*)$/m.exec(err)?.[1]?.split(' ') ?? [];

async function checkpointOf(place: string, run: string) {
  return JSON.parse(await readFile(join(folder.path, `work/${place}/${run}/_checkpoint.json`), 'utf8'));
}

const published = (place: string) => publishedIn(folder.path, place);

/** The number of parts that a stopped scan has finished. They are deleted when their run is published. */
async function partsUnderWork(): Promise<number> {
  const store = createDirectoryStore(folder.path);
  const keys = (await Array.fromAsync(store.list('work/'))).map(({ key }) => key);
  return keys.filter((key) => key.endsWith('.ndjson.gz')).length;
}

test('if a token is revoked halfway, the command exits 1 and what was read is stored; the resumed run is complete', async () => {
  await using sandbox = await startPlatform({
    calculations: 0,
    fileSets: 2,
    filesPerSet: 2_500,
    latencyMs: 40,
  });
  const [first = '', second = ''] = sandbox.ids().fileSets.toSorted();
  const argv = ['snapshot', 'files', '--fileset', first, '--fileset', second, '--as', 'both'];
  const stopping = run(sandbox, argv);
  // The second request only tests the order of the files.
  await requested(sandbox, 3);
  sandbox.setToken('another');

  const stopped = await stopping;
  const [, , , , , runName = ''] = resumeArgs(stopped.err);
  const checkpoint = await checkpointOf('files.both', runName);
  const partsWhenStopped = await partsUnderWork();
  sandbox.setToken(TOKEN);
  const resumed = await run(sandbox, resumeArgs(stopped.err));

  const { manifest, lines } = await published('files.both');
  const truth = [first, second].flatMap((id) =>
    [...sandbox.files(id)].map((row) => `{"_filesetId":"${id}",${row.slice(1)}`),
  );
  expect(stopped.code).toBe(1);
  expect(stopped.err).toContain('responded with 401');
  expect(stopped.err).toContain('; check that the token is correct, and neither expired nor revoked');
  expect(resumeArgs(stopped.err)).toEqual(['snapshot', 'files', '--as', 'both', '--resume', runName]);
  expect(checkpoint).toMatchObject({ open: { records: expect.any(Number) }, outcome: null });
  expect(checkpoint.records).toBeGreaterThanOrEqual(1_000);
  expect(checkpoint.records).toBeLessThan(5_000);
  expect(resumed.code).toBe(0);
  expect(manifest).toMatchObject({ run: runName, records: 5_000, consistency: 'proved' });
  expect([partsWhenStopped, await partsUnderWork()]).toEqual([1, 0]);
  expect(lines.toSorted()).toEqual(truth.sort());
});

describe('a request that the platform refuses with 400', () => {
  const page = json({ files: [{ id: 'one', path: '/one' }], pageContext: { next: 'further' } });
  const refusal = json({ message: 'no such field' }, 400);
  const argv = ['snapshot', 'files', '--fileset', FILESET, '--where', 'name:EQUALS:red'];
  /** The place whose name is derived from the filter. */
  const NARROWED = expect.stringMatching(/^field-name-operator-EQUALS-value-red-[0-9a-f]{8}$/);

  test.each([
    ['before anything is durable there is no command to resume', [refusal], []],
    [
      'after a part is durable it says how to resume',
      [page, refusal],
      ['snapshot', 'files', '--as', NARROWED, '--resume'],
    ],
  ])('causes an error with the platform’s message: %s', async (_, replies, resume) => {
    await using platform = await startServer(...replies);

    const { code, err } = await run(platform, argv);

    expect(code).toBe(1);
    expect(err).toContain('responded with 400: no such field');
    expect(err.includes('to resume')).toBe(resume.length > 0);
    expect(resumeArgs(err).slice(0, -1)).toEqual(resume);
  });
});

describe('Ctrl-C', () => {
  const platformSync = (argv: readonly string[], sandbox: Sandbox) => spawnCommand(argv, settingsOf(sandbox));

  test('ends a snapshot with exit code 3 immediately and prints a command, which completes the run', async () => {
    await using sandbox = await startPlatform({ calculations: 2_000, pageCap: 250, latencyMs: 150 });
    const child = platformSync(['snapshot', 'calculations'], sandbox);
    const stderr = text(child.stderr);
    await requested(sandbox, 5);
    child.kill('SIGINT');

    const [code] = await once(child, 'exit');
    const argv = resumeArgs(await stderr);
    const checkpoint = await checkpointOf('calculations', argv.at(-1) ?? '');
    const resumed = platformSync([...argv, '--json'], sandbox);
    const manifest = JSON.parse(await text(resumed.stdout));

    const { lines } = await published('calculations');
    expect(code).toBe(3);
    expect(await stderr).toContain('interrupted: stopped as requested');
    expect(argv.slice(0, -1)).toEqual(['snapshot', 'calculations', '--resume']);
    expect(checkpoint).toMatchObject({ open: { records: expect.any(Number) }, outcome: null });
    expect(checkpoint.records).toBeGreaterThan(0);
    expect(manifest).toMatchObject({ run: argv.at(-1), records: 2_000, consistency: 'proved' });
    expect(lines).toEqual([...sandbox.calculations()]);
  });

  test('counts as a single Ctrl-C, even if npm forwards it as well', async () => {
    await using sandbox = await startPlatform({ calculations: 2_000, pageCap: 250, latencyMs: 150 });
    const child = platformSync(['snapshot', 'calculations'], sandbox);
    const stderr = text(child.stderr);
    await requested(sandbox, 5);
    for (const afterMs of [0, 5, 20, 50, 100]) setTimeout(() => child.kill('SIGINT'), afterMs);

    const [code, signal] = await once(child, 'exit');

    expect({ code, signal }).toEqual({ code: 3, signal: null });
    expect(resumeArgs(await stderr).slice(0, -1)).toEqual(['snapshot', 'calculations', '--resume']);
  });

  test('leaves a run that can be resumed, even before the first page has arrived', async () => {
    await using sandbox = await startPlatform({ calculations: 100, latencyMs: 400 });
    const stopping = beginCommand(['snapshot', 'calculations'], settingsOf(sandbox));
    await requested(sandbox, 1);
    stopping.interrupt();

    const { code, err } = await stopping.ended;
    const resumed = await run(sandbox, resumeArgs(err));

    expect(code).toBe(3);
    expect(err).toContain('interrupted: stopped as requested');
    expect(resumed.code).toBe(0);
    expect((await published('calculations')).lines).toEqual([...sandbox.calculations()]);
  });
});
