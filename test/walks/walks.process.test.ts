import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printedBy, runProgram } from '../run-program.ts';
import { type Walk, walks } from './walks.ts';

/* Applies the walks of docs/contributing.md by a script in a copy of this checkout: their code must compile and run. */

const temporary = mkdtempDisposableSync(join(tmpdir(), 'platform-sync-walks-'));
const copy = join(temporary.path, 'checkout');
const inCopy = (file: string) => join(copy, file);
const names = Object.keys(walks) as readonly (keyof typeof walks)[];

const wholeFilesOf = (name: string) => {
  const folder = join(import.meta.dirname, name);
  return globSync('**/*.txt', { cwd: folder }).map((file) => ({
    from: join(folder, file),
    to: file.slice(0, -'.txt'.length),
  }));
};

const filesOf = (name: keyof typeof walks): readonly string[] => [
  ...new Set([...wholeFilesOf(name).map(({ to }) => to), ...walks[name].insertions.map(({ file }) => file)]),
];

function apply(name: keyof typeof walks): void {
  for (const { from, to } of wholeFilesOf(name)) {
    mkdirSync(dirname(inCopy(to)), { recursive: true });
    cpSync(from, inCopy(to));
  }
  const { insertions }: Walk = walks[name];
  for (const { file, after, lines } of insertions) {
    const [before, ...rest] = readFileSync(inCopy(file), 'utf8').split(after);
    if (rest.length === 0) throw new Error(`${file}: expected ${JSON.stringify(after)}, got none`);
    writeFileSync(inCopy(file), `${before}${after}${lines}${rest.join(after)}`);
  }
}

const node = (...words: readonly string[]) => [process.execPath, ...words] as const;
const tsc = (...words: readonly string[]) =>
  runProgram(node(resolve('node_modules/typescript/bin/tsc'), '--noEmit', ...words), { folder: copy });

let sandbox: { readonly url: string; readonly token: string };
let stop: () => Promise<void>;

const command = (...words: readonly string[]) =>
  printedBy(node(inCopy('bin/platform-sync.js'), ...words), {
    folder: temporary.path,
    environment: {
      PLATFORM_BASE_URL: sandbox.url,
      PLATFORM_TOKEN: sandbox.token,
      PLATFORM_RATE: '1000',
      LOG_LEVEL: 'silent',
    },
  });

beforeAll(async () => {
  for (const part of ['bin', 'build', 'docs', 'functions', 'infra', 'lib', 'test', ...globSync('*.json')])
    cpSync(part, inCopy(part), { recursive: true });
  symlinkSync(resolve('node_modules'), inCopy('node_modules'));
  for (const name of names) apply(name);
  const { startPlatform } = await import(inCopy('lib/sandbox/platform/start-platform.ts'));
  const platform = await startPlatform({});
  sandbox = platform;
  stop = () => platform[Symbol.asyncDispose]();
});

afterAll(async () => {
  await stop();
  temporary[Symbol.dispose]();
});

test('the changes of all walks in docs/contributing.md compile together', { timeout: 200_000 }, async () => {
  const [code, stack] = [await tsc(), await tsc('-p', 'infra')];

  expect([code.out, stack.out]).toEqual(['', '']);
});

describe('docs/contributing.md names each file that a walk changes:', () => {
  const page = readFileSync('docs/contributing.md', 'utf8');

  test.each(names)('%s', (name) => {
    const [, section = ''] = page.split(`## ${walks[name].heading}\n`);
    const [text = ''] = section.split('\n## ');
    const isNamed = (file: string) =>
      text.includes(`\`${file}\``) ||
      text.includes(`\`${file.replace(/(gadgets|note|get-gadget|greet)/, 'NAME')}\``) ||
      text.includes(`\`${dirname(file).replace(/(gadgets|note)$/, 'NAME')}/\``);

    expect(filesOf(name).filter((file) => !isNamed(file))).toEqual([]);
  });
});

test('the new operation is on the page of the client', { timeout: 100_000 }, async () => {
  await printedBy(node('build/write-reference.ts'), { folder: copy });

  expect(readFileSync(inCopy('docs/reference.md'), 'utf8')).toContain('gadgets.get');
});

test('the new operation is served by the sandbox', async () => {
  const response = await fetch(new URL('/api/data/v1/gadgets/a', sandbox.url), {
    headers: { 'X-SERVICE-Developer-Token': sandbox.token },
  });

  expect([response.status, await response.json()]).toEqual([200, { id: 'a', Title: 'Gadget a' }]);
});

test('the new source has its command, its table, and its result of where-used', async () => {
  const taken = await command('snapshot', 'gadgets', '--id', 'b', '--id', 'a');
  const rows = await command('query', '--json', 'SELECT gadget_id, name FROM gadgets ORDER BY 1');

  expect(taken).toContain('2 records');
  expect(rows).toContain('Gadget a');
  expect(await command('where-used', 'a', '--kind', 'gadget')).toContain('Gadget a');
});

test('the new job type runs', async () => {
  writeFileSync(
    join(temporary.path, 'note.json'),
    JSON.stringify({ version: 1, type: 'note', id: 'n-1', text: 'hello' }),
  );

  const done = await command('run', 'note.json', '--json');

  expect(JSON.parse(done)).toMatchObject({ done: 1, doneNow: 1, failed: 0 });
  expect(await command('jobs', 'n-1', '--json')).toContain('hello');
});

test('the new alarm is on the page of alarms', { timeout: 100_000 }, async () => {
  await printedBy(node('infra/write-alarms-page.ts'), { folder: copy });

  expect(readFileSync(inCopy('docs/alarms.md'), 'utf8')).toContain('GadgetsLost');
});

test('the new command runs, and help lists it', async () => {
  expect(await command('greet', 'Ada')).toBe('Hello, Ada.\n');
  expect(await command('--help')).toContain('greet');
});
