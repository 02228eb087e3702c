import { createReadStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { quoteColumn } from '../formula/quotes.ts';
import type { Dataset } from '../sandbox/platform/records/datasets.ts';
import { readLatest, readManifest } from '../snapshot/manifest.ts';
import { openStore } from '../store/open.ts';
import { runCommandLine } from './command-line.ts';
import { openSession } from './session.ts';
import { exitCodes, type Terminal } from './terminal.ts';

/** Apart from the store that commands use without a setting, so that a tour never meets a user's own runs. */
const FOLDER = './platform-sync-data/tour';

const TEXT = 'The delivery was late and the box was damaged. The support team was wonderful!';

/**
 * The main job on real input: starts the reference platform, takes a snapshot of all its calculations, sets a
 * formula, runs a function, scores a text, and tells where everything lies. Answers the exit code.
 */
export async function tour(terminal: Terminal): Promise<number> {
  // Loaded here, so that the command line does not pay for the servers.
  const { startPlatform } = await import('../sandbox/platform/start-platform.ts');
  const { codePackages } = await import('../sandbox/platform/functions/packages.ts');
  await using platform = await startPlatform({});
  const { out } = terminal;
  out(`The reference platform serves ${platform.url} with 20,000 calculations.`);
  const inTour: Terminal = {
    ...terminal,
    environment: {
      ...terminal.environment,
      PLATFORM_BASE_URL: platform.url,
      PLATFORM_TOKEN: platform.token,
      PLATFORM_TOKEN_SECRET: '',
      PLATFORM_TOKEN_HEADER: platform.tokenHeader,
      PLATFORM_RATE: '10',
      SYNC_STORE: FOLDER,
      SYNC_COMPRESSION: 'gzip',
    },
  };
  const run = async (argv: readonly string[], input = '') => {
    out(`\n$ ${input === '' ? '' : `echo ${quoted(input)} | `}platform-sync ${argv.map(quoted).join(' ')}`);
    return runCommandLine(argv, { ...inTour, readInput: async () => input });
  };

  const codes = [await run(['snapshot', 'calculations'])];
  const first = await showStored(out);
  const formula = formulaFor(platform.state.datasets.find(({ id }) => first.line.includes(id)));
  codes.push(await run(['formula', 'check', '-'], formula));
  codes.push(await run(['formula', 'set', first.id, '-'], formula));
  const [toolkit] = codePackages;
  const input = JSON.stringify({ start: '2026-11-20', end: '2026-12-01', holidays: ['2026-11-26'] });
  codes.push(await run(['call', toolkit?.id ?? '', '1.0.0', 'businessDays', '--input', input]));
  await scoreText(inTour);
  out(`\nEverything lies in ${resolve(FOLDER)}. To play on: npx platform-sync sandbox`);
  return codes.find((code) => code !== exitCodes.done) ?? exitCodes.done;
}

/** Shows what the snapshot left behind, read back from the store; answers its first record. */
async function showStored(out: Terminal['out']): Promise<{ readonly id: string; readonly line: string }> {
  const store = await openStore(FOLDER);
  const latest = await readLatest(store, 'calculations');
  const manifest = await readManifest(store, latest?.manifest ?? '');
  const part = manifest.parts[0];
  const line = await firstLine(join(FOLDER, part?.key ?? ''));
  out(
    `\nThe manifest tells ${manifest.records} records, consistency ${manifest.consistency}, from id ${part?.firstKey} to ${manifest.parts.at(-1)?.lastKey}.`,
  );
  out(`Its first record: ${line.slice(0, 100)}…`);
  return { id: part?.firstKey ?? '', line };
}

/** A formula over the columns that the calculation's dataset really has. */
function formulaFor(dataset: Dataset | undefined): string {
  const column = (type: string) =>
    quoteColumn(dataset?.columns.find((each) => each.type === type)?.name ?? type);
  return `SUM(CASE WHEN ${column('STRING')} IS NULL THEN 0 ELSE ${column('DECIMAL')} END) / COUNT(*)`;
}

async function firstLine(file: string): Promise<string> {
  const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()) });
  for await (const line of lines) return line;
  return '';
}

async function scoreText(terminal: Terminal): Promise<void> {
  const { platform } = openSession(terminal);
  const topics = [{ topic: 'delivery' }, { topic: 'support' }, { topic: 'price' }];
  const sentiment = await platform.sentiment.analyze({ text: TEXT, topics }, { signal: terminal.signal });
  terminal.out(`\nA text scored by the client: “${TEXT}”`);
  for (const [topic, value] of Object.entries(sentiment.topicSentiments ?? {}))
    terminal.out(`  ${topic}: ${value}`);
}

const quoted = (word: string) => (/^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
