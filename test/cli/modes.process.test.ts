import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { settingsOf } from './run-command.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);
const modeOf = (name: string) => (statSync(at(name)).mode & 0o777).toString(8);

/** The files in a folder, at any depth, that users other than the owner may access. */
const openIn = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const stats = lstatSync(join(path, name));
    // Folders do not count: the lock of a process is an empty one.
    return stats.isFile() && (stats.mode & 0o077) !== 0;
  });

async function commandUnder(
  umask: string,
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  const line = ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, 'lib/cli/bin.js', ...argv];
  const child = spawn('sh', line, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const [code] = await once(child, 'exit');
  return code;
}

test.for(['022', '002'])(
  'under umask %s no command writes a file from which other users could read a text',
  { timeout: 120_000 },
  async (umask) => {
    await using platform = await startPlatform({ calculations: 20 });
    const settings = { ...settingsOf(platform, at('store')), LOG_LEVEL: 'silent' };
    const [sum] = codePackages;
    const job = {
      type: 'run-function',
      packageId: sum?.id,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
    };
    writeFileSync(
      at('job.json'),
      JSON.stringify({ ...job, inputVariables: { first: '{{id:number}}', second: 1 } }),
    );
    writeFileSync(at('rows.csv'), 'id,text\n1,good\n2,bad\n');
    chmodSync(at('rows.csv'), 0o600);
    mkdirSync(at('out'));
    for (const name of ['old.csv', 'old.parquet']) writeFileSync(at(`out/${name}`), '');
    chmodSync(at('out/old.csv'), 0o660);
    chmodSync(at('out/old.parquet'), 0o640);
    const query = ['query', 'SELECT id FROM calculations'];
    const lines = [
      ['snapshot', 'calculations'],
      ['score', at('rows.csv'), '--text', 'text', '--output', at('out/scored.csv')],
      ['run', '--from-csv', at('rows.csv'), '--template', at('job.json'), '--output', at('out/done.csv')],
      ['jobs', 'results', '--output', at('out/results.csv')],
      ['report', '--output', at('out/report.html')],
      [...query, '--csv', at('out/query.csv')],
      [...query, '--parquet', at('out/query.parquet')],
      [...query, '--csv', at('out/old.csv')],
      [...query, '--parquet', at('out/old.parquet')],
    ];

    for (const argv of lines) expect(await commandUnder(umask, argv, settings), argv.join(' ')).toBe(0);

    const old = ['old.csv', 'old.parquet'];
    expect(old.map((name) => modeOf(`out/${name}`))).toEqual(['660', '640']);
    expect(openIn(at('out')).filter((name) => !old.includes(name))).toEqual([]);
    expect(readdirSync(at('out'))).toHaveLength(8);
    expect(modeOf('store')).toBe('700');
    expect(openIn(at('store')).filter((name) => name !== '.gitignore' && !name.startsWith('.store'))).toEqual(
      [],
    );
    expect(modeOf('rows.csv')).toBe('600');
  },
);

test('files in a store that others may read are readable by their owner alone, and by the group if that is configured', {
  timeout: 60_000,
}, async () => {
  await using platform = await startPlatform({ calculations: 20 });
  const modes: string[] = [];
  for (const [name, mode] of [
    ['open', 0o755],
    ['shared', 0o2770],
  ] as const) {
    mkdirSync(at(name));
    chmodSync(at(name), mode);
    expect(await commandUnder('007', ['snapshot', 'calculations'], settingsOf(platform, at(name)))).toBe(0);
    modes.push(modeOf(name), modeOf(`${name}/calculations`), modeOf(`${name}/calculations/latest.json`));
  }

  expect(modes).toEqual(['755', '700', '600', '770', '770', '660']);
});
