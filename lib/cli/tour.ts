import { resolve } from 'node:path';
import { quoteColumn } from '../formula/quotes.ts';
import type { Dataset } from '../sandbox/platform/records/datasets.ts';
import type { Sandbox } from '../sandbox/platform/start-platform.ts';
import { partLines } from '../snapshot/changes/part-lines.ts';
import { type Part, readLatest, readManifest } from '../snapshot/manifest.ts';
import { sourceDefinitions, sources } from '../snapshot/sources/sources.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { runCommandLine } from './command-line.ts';
import { exitCodes, type Terminal } from './terminal.ts';
import type { TourAws } from './tour-aws.ts';

/** Not the store that commands use by default, so that a tour never touches a user's own runs. */
const FOLDER = './platform-sync-data/tour';

/** Requests a second, for commands and for the function. */
const RATE = 200;

/** Records that the platform changes between the two rounds of snapshots. */
const CHANGES = 300;

/** Runs one command of the tour, with what it reads from standard input; returns its exit code. */
type Run = (argv: readonly string[], input?: string) => Promise<number>;

/**
 * The main job on real input: starts the reference platform and the local AWS, takes snapshots of all sources, lets the
 * platform change, takes them again and shows what changed, runs jobs of every type through the queue with the bundle
 * that is deployed, and says where everything is. Returns the exit code; throws the reason of a stop.
 */
export async function tour(given: Terminal): Promise<number> {
  const terminal = untilStopped(given);
  // Loaded here, so that the command line does not pay for the servers.
  const { startPlatform } = await import('../sandbox/platform/start-platform.ts');
  const { startTourAws } = await import('./tour-aws.ts');
  await using platform = await startPlatform({});
  terminal.out('Building the stack as it would be deployed, with cdk synth.');
  await using aws = await startTourAws({
    platform,
    store: FOLDER,
    rate: RATE,
    onLog: terminal.err,
    signal: terminal.signal,
  });
  const inTour = terminalOfTour(terminal, platform, aws.settings);
  const codes: number[] = [];
  const run: Run = async (argv, input = '') => {
    terminal.signal.throwIfAborted();
    terminal.out(
      `\n$ ${input === '' ? '' : `echo ${quoted(input)} | `}platform-sync ${argv.map(quoted).join(' ')}`,
    );
    const code = await runCommandLine(argv, { ...inTour, readInput: async () => input });
    terminal.signal.throwIfAborted();
    codes.push(code);
    return code;
  };

  terminal.out(`The reference platform serves ${platform.url} with 20,000 calculations.`);
  await takeAll(platform, run);
  const first = await showStored(terminal.out);
  platform.churn(CHANGES);
  terminal.out(`\nMeanwhile ${CHANGES} records of the platform were added, changed or deleted.`);
  await takeAll(platform, run);
  await run(['diff', 'calculations', '--limit', '5']);
  await run(['runs']);
  await checkFormula(platform, run, first);
  await runJobs({ platform, aws, run, terminal: inTour, first });
  terminal.out(`\nEverything is in ${resolve(FOLDER)}. To try more: npx platform-sync sandbox`);
  // Calculations link to datasets that are gone, so the cards are incomplete.
  return codes.find((code) => code !== exitCodes.done && code !== exitCodes.incomplete) ?? exitCodes.done;
}

/** The same, but once it is stopped nothing more is said: whoever stopped the tour has seen enough. */
const untilStopped = (terminal: Terminal): Terminal => ({
  ...terminal,
  out: (text) => void (terminal.signal.aborted || terminal.out(text)),
  err: (text) => void (terminal.signal.aborted || terminal.err(text)),
});

function terminalOfTour(terminal: Terminal, platform: Sandbox, aws: Terminal['environment']): Terminal {
  return {
    ...terminal,
    environment: {
      ...terminal.environment,
      PLATFORM_BASE_URL: platform.url,
      PLATFORM_TOKEN: platform.token,
      PLATFORM_TOKEN_SECRET: '',
      PLATFORM_TOKEN_HEADER: platform.tokenHeader,
      PLATFORM_RATE: String(RATE),
      SYNC_STORE: FOLDER,
      SYNC_COMPRESSION: 'gzip',
      // What users have set for their own platform must not affect the tour.
      SYNC_GLUE_DATABASE: '',
      SYNC_SNAPSHOT_FUNCTION: '',
      SYNC_EVENT_BUS: '',
      SYNC_ALLOW: '',
      ...aws,
    },
  };
}

/** Takes a snapshot of each source, as its definition samples it. */
async function takeAll(platform: Sandbox, run: Run): Promise<void> {
  for (const source of sources)
    await run(['snapshot', source, ...sourceDefinitions[source].sample(sampleRecords(platform))]);
}

function sampleRecords({ state: { datasets, fileSets, dataFileIds } }: Sandbox) {
  return {
    datasetIds: datasets.map(({ id }) => id),
    filesetIds: fileSets.map(({ id }) => id),
    dataFileIds,
  };
}

type FirstRecord = { readonly id: string; readonly line: string };

const formulaOf = (platform: Sandbox, { line }: FirstRecord) =>
  formulaFor(platform.state.datasets.find(({ id }) => line.includes(id)));

const checkFormula = (platform: Sandbox, run: Run, first: FirstRecord) =>
  run(['formula', 'check', '-'], formulaOf(platform, first));

type JobsOfTour = {
  readonly platform: Sandbox;
  readonly aws: TourAws;
  readonly run: Run;
  readonly terminal: Terminal;
  readonly first: FirstRecord;
};

/** Runs one job of every type through the queue, with the bundle that is deployed, in a process of its own. */
async function runJobs({ platform, aws, run, terminal, first }: JobsOfTour): Promise<void> {
  const { codePackages } = await import('../sandbox/platform/functions/packages.ts');
  const { sampleMessages } = await import('../jobs/types/job-types.ts');
  const messages = sampleMessages({
    ...sampleRecords(platform),
    packageId: codePackages[0]?.id ?? '',
    calculationId: first.id,
    expression: formulaOf(platform, first),
  });
  await run(['submit', '-'], messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  terminal.out(`\nThe function’s bundle takes them from the queue, in a process of its own.`);
  await aws.runJobs({ environment: terminal.environment, ids: messages.map(({ id }) => id) });
  await run(['jobs']);
  await run(['jobs', 'tour-sentiment']);
  await run(['formula', 'log', first.id]);
}

/** Shows what the first snapshot left behind, read back from the store; returns its first record. */
async function showStored(out: Terminal['out']): Promise<FirstRecord> {
  const store = await openStore(FOLDER);
  const latest = await readLatest(store, 'calculations');
  const { parts, records, consistency } = await readManifest(store, latest?.manifest ?? '');
  const [part] = parts;
  if (part === undefined) throw new Error('expected a part of calculations, got none');
  const line = await firstLine(store, part);
  const range = `from id ${part.firstKey} to ${parts.at(-1)?.lastKey}`;
  out(`\nThe manifest of calculations says: ${records} records, consistency: ${consistency}, ${range}.`);
  out(`Its first record: ${line.slice(0, 100)}…`);
  return { id: part.firstKey, line };
}

async function firstLine(store: Store, part: Part): Promise<string> {
  for await (const [line] of partLines({ store, part })) return line ?? '';
  return '';
}

function formulaFor(dataset: Dataset | undefined): string {
  const column = (type: string) =>
    quoteColumn(dataset?.columns.find((each) => each.type === type)?.name ?? type);
  return `SUM(CASE WHEN ${column('STRING')} IS NULL THEN 0 ELSE ${column('DECIMAL')} END) / COUNT(*)`;
}

const quoted = (word: string) => (/^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
