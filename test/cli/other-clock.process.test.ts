import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderOfAll } from '../folder-of-each.ts';
import { adds, lines, startJobs } from './start-jobs.ts';

/* The commands in processes of their own, on a machine whose clock is wrong and on one with another host name. */

const root = folderOfAll();
const file = (name: string) => join(root, name);
let jobs: Awaited<ReturnType<typeof startJobs>>;
let store: string;
let id: string;

beforeAll(async () => {
  jobs = await startJobs({ isInAws: false });
  await writeFile(file('texts.csv'), 'id,text\n1,a wonderful thing\n2,an awful one\n');
  await writeFile(file('jobs.ndjson'), lines([adds('sum')]));
  id = String(JSON.parse(jobs.sandbox.calculations().next().value ?? '{}').id);
  await jobs.run(['snapshot', 'calculations']);
  await jobs.run(['snapshot', 'calculations']);
  await jobs.run(['score', file('texts.csv'), '--text', 'text', '--batch', 'may']);
  expect((await jobs.run(['run', file('jobs.ndjson')])).code).toBe(0);
  await jobs.run(['report', '--output', file('report.html')]);
  await jobs.run(['query', 'SELECT count(*) FROM calculations', '--csv']);
  store = file('store');
  await cp(jobs.folder, store, { recursive: true, preserveTimestamps: true });
}, 60_000);

afterAll(() => jobs[Symbol.asyncDispose]());

type Machine = { readonly days?: number; readonly wrap?: readonly string[]; readonly host?: string };

const PRELOAD = `--import=${join(import.meta.dirname, 'shifted-clock.mjs')}`;

async function command(argv: readonly string[], { days = 0, wrap = [], host }: Machine) {
  const [program = '', ...args] = [...wrap, process.execPath, PRELOAD, 'lib/cli/bin.js', ...argv];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...jobs.settings,
      SYNC_STORE: store,
      CLOCK_OFF_DAYS: String(days),
      ...(host === undefined ? {} : { OTHER_HOST: host }),
    },
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, err };
}

/** The hashes of all objects, and all rows and messages except the pace, of which `doctor` reserves slots. */
async function stored() {
  const entries = await readdir(store, { recursive: true, withFileTypes: true });
  const paths = entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const objects = paths.filter((path) => !relative(store, path).startsWith('.store/')).toSorted();
  const db = new DatabaseSync(join(store, '.store', 'jobs.db'), { readOnly: true });
  const rows = db
    .prepare("SELECT pk, sk, row, token FROM rows WHERE pk NOT LIKE 'pace#%' ORDER BY pk, sk")
    .all();
  const messages = db.prepare('SELECT * FROM messages ORDER BY id').all();
  db.close();
  return {
    objects: await Promise.all(objects.map(async (path) => [path, hash('sha256', await readFile(path))])),
    rows,
    messages,
  };
}

const readers: readonly (readonly string[])[] = [
  ['jobs'],
  ['jobs', 'sum', '--json'],
  ['batches', 'may'],
  ['runs', '--all'],
  ['diff', 'calculations'],
  ['where-used', 'ID'],
  ['query', 'SELECT count(*) FROM jobs', '--csv'],
  ['report', '--json'],
  ['digest', '--json'],
  ['pace', '--json'],
  ['doctor'],
  ['formula', 'log', 'ID'],
  ['prune', '--keep', '1', '--dry-run'],
  ['prune', '--jobs', '--older-than', '1d', '--dry-run'],
  ['forget', '--batch', 'may', '--dry-run'],
  ['score', 'texts.csv', '--text', 'text', '--dry-run'],
  ['run', 'jobs.ndjson', '--dry-run'],
  ['submit', 'jobs.ndjson', '--dry-run'],
];

const located = (argv: readonly string[]) =>
  argv.map((word) => (/\.(csv|ndjson)$/.test(word) ? file(word) : word.replace(/^ID$/, id)));

describe.each([31, 800, -800])('with a clock %i days off', (days) => {
  test.each(readers.map((argv) => [argv]))(
    '%j changes no object and no row',
    { timeout: 60_000 },
    async (argv) => {
      const before = await stored();

      const { code, err } = await command(located(argv), { days });

      expect([0, 1, 3], err).toContain(code);
      expect(await stored()).toEqual(before);
    },
  );

  test('the same jobs and texts are not sent again', { timeout: 60_000 }, async () => {
    const { requests } = jobs.sandbox.counts();

    const again = await command(['run', file('jobs.ndjson')], { days });
    const scored = await command(['score', file('texts.csv'), '--text', 'text', '--batch', `b${days}`], {
      days,
    });

    expect([again.code, scored.code]).toEqual([0, 0]);
    expect(jobs.sandbox.counts().requests).toBe(requests);
  });
});

/** Runs a command under another host name. If no namespace may be created, a preload changes Node's answer. */
const IN_NAMESPACE = ['unshare', '--uts', '--map-root-user', 'sh', '-c', 'hostname other && exec "$@"', 'sh'];

function otherMachine(): Machine & { readonly by: string } {
  try {
    execFileSync(IN_NAMESPACE[0] ?? '', [...IN_NAMESPACE.slice(1), 'true'], { stdio: 'ignore' });
    return { by: 'unshare', wrap: IN_NAMESPACE };
  } catch {
    return { by: 'a preload', host: 'other' };
  }
}

const { by, ...other } = otherMachine();

test(`a machine with another name (${by}) continues in the same folder`, { timeout: 120_000 }, async () => {
  const { requests } = jobs.sandbox.counts();
  const name = await command(['--version'], other);
  const again = await command(['run', file('jobs.ndjson')], other);
  const scored = await command(['score', file('texts.csv'), '--text', 'text', '--batch', 'may'], other);
  const unsent = jobs.sandbox.counts().requests - requests;
  const taken = await command(['snapshot', 'calculations'], other);
  const listed = await command(['jobs', '--json'], other);

  expect([name, again, scored, taken, listed].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  expect(unsent).toBe(0);
  for (const { out, err } of [again, scored, taken, listed])
    expect(`${out}${err}`).not.toMatch(/\bother\b|host/i);
});
