import './short-waits.ts';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { ownPeakMb, resetOwnPeak } from '../own-peak.ts';
import { startProxy } from '../platform/proxy-server.ts';
import { startServer } from '../platform/scripted-server.ts';
import { commandCases } from './cases/cases.ts';
import type { CommandCase, CommandEnd } from './command-case.ts';

/*
 * Runs the hostile command lines of one group (the argument) one after another in this process, whose heap is limited
 * by the test. Prints how each ended as a line of JSON.
 */
const group = process.argv[2] ?? '';
if (!(group in commandCases)) throw new RangeError(`expected ${Object.keys(commandCases)}, got ${group}`);

// A first command loads what all commands load, before any is measured.
await end({ name: 'none', argv: ['runs'], code: 0, says: /^/ });

for (const each of commandCases[group as keyof typeof commandCases])
  process.stdout.write(`${JSON.stringify(await end(each))}\n`);

async function end({ name, argv, settings = {}, files = {}, ...hostile }: CommandCase): Promise<CommandEnd> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  await using server = await serverOf(hostile);
  const placed = (text: string) => text.replaceAll('{folder}', folder).replaceAll('{server}', server.url);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  if (!('store' in files)) await mkdir(join(folder, 'store'), { recursive: true });
  const given = {
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'secret-of-the-test',
    SYNC_STORE: '{folder}/store',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const environment = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, placed(text)]));
  const { terminal, err } = createFakeTerminal(environment);
  resetOwnPeak();
  const beforeMb = ownPeakMb();
  const startedMs = performance.now();
  const code = await runCommandLine(argv.map(placed), terminal);
  const seconds = (performance.now() - startedMs) / 1_000;
  const peakMb = ownPeakMb();
  const text = err();
  await rm(folder, { recursive: true });
  const said = text.slice(0, 2_000).replaceAll(folder, '{folder}');
  return { name, code, said, length: text.length, requests: server.requests(), seconds, beforeMb, peakMb };
}

async function serverOf({ reply, proxyRefuses }: Pick<CommandCase, 'reply' | 'proxyRefuses'>) {
  if (proxyRefuses !== undefined) {
    const proxy = await startProxy({ refuse: proxyRefuses });
    return { ...proxy, requests: () => proxy.connects.length };
  }
  if (reply === undefined)
    return { url: '', requests: () => 0, [Symbol.asyncDispose]: async () => undefined };
  const server = await startServer(reply);
  return { ...server, requests: () => server.requests.length };
}
