import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { ownPeakMb } from '../own-peak.ts';
import { commandCases } from './cases/cases.ts';
import type { CommandCase, CommandEnd } from './command-case.ts';

/*
 * Runs all hostile command lines one after another in this process, whose heap its starter limits, and prints how each
 * ended as a line of JSON.
 */

for (const each of Object.values(commandCases).flat())
  process.stdout.write(`${JSON.stringify(await end(each))}\n`);

async function end({ name, argv, settings = {}, files = {} }: CommandCase): Promise<CommandEnd> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  const placed = (text: string) => text.replaceAll('{folder}', folder);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const given = {
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'secret-of-the-test',
    SYNC_STORE: '{folder}/store',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const environment = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, placed(text)]));
  const { terminal, err } = createFakeTerminal(environment);
  const startedMs = performance.now();
  const code = await runCommandLine(argv.map(placed), terminal);
  const seconds = (performance.now() - startedMs) / 1_000;
  const text = err();
  await rm(folder, { recursive: true });
  const said = text.slice(0, 2_000).replaceAll(folder, '{folder}');
  return { name, code, said, length: text.length, seconds, peakMb: ownPeakMb() };
}
