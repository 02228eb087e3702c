import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { quoted, sleep } from '../../base/index.ts';
import { sampleMessages } from '../../jobs/types/index.ts';
import { type PlatformOptions, type Sandbox, startPlatform } from '../../sandbox/index.ts';
import { settingNames } from '../../settings.ts';
import { findRuns } from '../../snapshot/history/index.ts';
import { sourceDefinitions, sources } from '../../snapshot/sources/index.ts';
import { openStore } from '../../store/index.ts';
import { runCommandLine } from '../command-line.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { counted, exitCodes, number, type Terminal } from '../terminal/terminal.ts';

/** The folder of the tour. It is not the default store, so that a tour never changes a user's own runs. */
const FOLDER = './platform-sync-data/tour';

/** The rate in requests a second. */
const RATE = 200;

/** The number of records that change on the platform between two runs. */
const CHANGES = 300;

/**
 * Runs the commands of a tour against a simulated platform, in numbered steps. Throws the reason of a stop, and an
 * Error if a command ends with an unexpected exit code.
 */
export async function tour(given: Terminal, steps: number): Promise<void> {
  const terminal = untilStopped(given);
  const { out, signal } = terminal;
  signal.throwIfAborted();
  // The runs of an earlier tour are removed, so that the new runs are not compared with them.
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true, mode: 0o700 });
  await using instance = await startInstance();
  const inTour = { ...terminal, environment: environmentOf(terminal, instance) };
  const narration = createNarration(inTour, steps);
  await showCopy(narration, instance);
  await showCrash(narration, instance);
  await showChanges(narration);
  await showRefusal(narration, instance);
  await showLimit(narration, instance);
  await showJobs(narration, instance, inTour);
  await showScores(narration);
  await showFormulas(narration, instance);
  await showReport(narration);
  for (const line of ending()) out(line);
}

type Instance = Awaited<ReturnType<typeof startInstance>>;

/** Starts the simulated platform with its default options. */
async function startInstance() {
  let platform = await startPlatform();
  const port = Number(new URL(platform.url).port);
  return {
    get platform() {
      return platform;
    },
    /** Starts the platform again with other options, at the same address. */
    async restart(options: PlatformOptions = {}) {
      await platform.close();
      platform = await startPlatform({ ...options, port });
    },
    [Symbol.asyncDispose]: () => platform.close(),
  };
}

/** The terminal, except that it prints nothing after the tour has been stopped. */
const untilStopped = (terminal: Terminal): Terminal => ({
  ...terminal,
  out: (text) => void (terminal.signal.aborted || terminal.out(text)),
  err: (text) => void (terminal.signal.aborted || terminal.err(text)),
});

function environmentOf({ environment }: Terminal, { platform }: Instance): Terminal['environment'] {
  return {
    ...environment,
    // The user's own settings must not affect the tour.
    ...Object.fromEntries(settingNames.map((name) => [name, ''])),
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
    PLATFORM_TOKEN_HEADER: platform.tokenHeader,
    PLATFORM_RATE: String(RATE),
    SYNC_STORE: FOLDER,
    SYNC_COMPRESSION: 'gzip',
    LOG_LEVEL: 'error',
  };
}

async function showCopy({ step, run }: Narration, { platform }: Instance): Promise<void> {
  step('Copy all four sources', 'If a row is lost between two pages, the copy notices it and reads again.');
  const records = platform.samples();
  for (const source of sources)
    await run(['snapshot', source, ...sourceDefinitions[source].sample(records)], { only: /records in/ });
  await run(['runs']);
}

/** Settings that make a run slow enough to be killed in the middle, and that store a part each second. */
const SLOW_SETTINGS = { PLATFORM_RATE: '2', SYNC_PART_SECONDS: '1' } as const;

async function showCrash({ step, run, runKilled, say }: Narration, { platform }: Instance): Promise<void> {
  step(
    'Survive a crash',
    `In the meantime, ${CHANGES} records were changed. The next run is killed in the middle, and continues from its last stored part.`,
  );
  platform.churn(CHANGES);
  const store = await openStore(FOLDER);
  let records = 0;
  const isStored = async () => {
    const { listed } = await findRuns({ store, place: 'calculations', all: true, limit: 1 });
    for (const each of listed) if (each.state === 'unfinished') records = each.records ?? 0;
    return records > 0;
  };
  await runKilled(['snapshot', 'calculations'], isStored, SLOW_SETTINGS);
  say(`Killed (kill -9) with ${number(records)} records stored.`);
  await run(['snapshot', 'calculations', '--resume', 'last']);
}

async function showChanges({ step, run }: Narration): Promise<void> {
  step('See what changed', 'Every run is compared with the one before it, record by record.');
  await run(['diff', 'calculations', '--limit', '4']);
}

/** The number of calculations that the token can still read after it lost its permission for most of them. */
const FEW_CALCULATIONS = 6_000;

async function showRefusal({ step, run }: Narration, instance: Instance): Promise<void> {
  step(
    'Refuse a run that cannot be trusted',
    'The token has lost its permission to read most calculations: the run is not published, and the previous copy stays.',
  );
  await instance.restart({ calculations: FEW_CALCULATIONS });
  await run(['snapshot', 'calculations'], { expected: [exitCodes.incomplete] });
}

/** The rate that the platform allows, and the rate in the settings. */
const ALLOWED_RATE = 4;
const CLAIMED_RATE = 8;

async function showLimit({ step, run }: Narration, instance: Instance): Promise<void> {
  step(
    'Obey a 429',
    `PLATFORM_RATE is ${CLAIMED_RATE} requests a second, but the platform allows only ${ALLOWED_RATE}: all workers stop, then send more slowly.`,
  );
  await instance.restart({ rate: ALLOWED_RATE, retryAfter: 'seconds' });
  const ids = instance.platform.state.dataFileIds.slice(0, 8).flatMap((id) => ['--id', id]);
  await run(['snapshot', 'data-files', ...ids, '--as', 'eight'], {
    settings: { PLATFORM_RATE: String(CLAIMED_RATE) },
  });
  await instance.restart();
}

/** Maximum characters of a job that are printed. */
const MAX_JOB_CHARACTERS = 96;

/** The delay of a response in milliseconds: long enough to kill a worker that waits for it. */
const LATENCY_MS = 600;

/** The number of functions that are run, in addition to one job of every type. */
const SUMS = 7;

/** Runs jobs of every type from a queue in the store's folder. A worker is killed in the middle of a job. */
async function showJobs(
  { step, run, runKilled, say }: Narration,
  instance: Instance,
  terminal: Terminal,
): Promise<void> {
  step(
    'Run jobs from a queue',
    'The queue is a file in the folder. A worker dies in the middle of a job; each job has one outcome, and none is sent twice.',
  );
  await instance.restart({ latencyMs: LATENCY_MS });
  const { platform } = instance;
  const records = platform.samples();
  const sums = Array.from({ length: SUMS }, (_, index) => sumOf(records.packageId, index + 1));
  const samples = sampleMessages(records);
  const file = join(FOLDER, 'jobs.ndjson');
  const lines = [...sums, ...samples].map((message) => JSON.stringify(message));
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  say(`\n${file} has one job of each type, and ${SUMS} more functions:`);
  for (const line of lines.slice(SUMS))
    say(`  ${line.length > MAX_JOB_CHARACTERS ? `${line.slice(0, MAX_JOB_CHARACTERS)}…` : line}`);
  // The current formula of the calculation that one of these jobs changes is not stored.
  await run(['submit', file, '--no-undo']);
  const { ledger } = await openJobs(terminal);
  // If the worker died while the text was being scored, the text might have to be paid for again.
  const isSent = async () => {
    const rows = await Array.fromAsync(ledger.list());
    const isScored = rows.some(({ type, state }) => type === 'score' && state === 'DONE');
    return isScored && rows.some(({ state }) => state === 'SENT');
  };
  await runKilled(['work', '--drain', '--concurrency', '1'], isSent);
  say('The worker was killed (kill -9) in the middle of a job. Another worker runs the rest:');
  // The outcome of the request that the killed worker had sent is unknown.
  await run(['work', '--drain'], { expected: [exitCodes.done, exitCodes.incomplete] });
  await run(['jobs']);
  const sent = sentTo(platform);
  say(`\nThe platform ran ${sent.words}: ${sent.twice || 'nothing'} twice.`);
  for await (const { id, state } of ledger.list()) {
    if (state !== 'UNKNOWN') continue;
    const word = sent.has(sums.find((sum) => sum.id === id)?.inputVariables) ? 'done' : 'failed';
    await run(['jobs', 'resolve', id, word, '--note', 'I checked on the platform']);
  }
  await instance.restart();
}

const sumOf = (packageId: string, first: number) => ({
  version: 1,
  type: 'run-function',
  id: `sum-${first}`,
  packageId,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first, second: 100 },
});

/** What the platform received, in words, and how many requests it received twice. */
function sentTo(platform: Sandbox) {
  const { executions, formulaUpdates, sentimentCalls } = platform.counts();
  const inputs = executions.map(({ inputVariables }) => JSON.stringify(inputVariables));
  const formulas = Object.values(formulaUpdates);
  const texts = Object.values(sentimentCalls);
  const repeats = [...formulas, ...texts].filter((times) => times > 1).length;
  return {
    words: `${counted(inputs.length, 'function')}, set ${counted(formulas.length, 'formula')} and scored ${counted(texts.length, 'text')}`,
    twice: repeats + inputs.length - new Set(inputs).size,
    has: (input: unknown) => inputs.includes(JSON.stringify(input)),
  };
}

const REVIEWS = [
  'id,comment',
  '1,The delivery was late and the box was damaged.',
  '2,The support team was wonderful!',
  '3,The price is fine and the delivery was quick.',
  '4,The support team was wonderful!',
] as const;

const SCORES =
  "SELECT id, columns['comment'] AS comment, topicsentiments->>'delivery' AS delivery, topicsentiments->>'support' AS support FROM scores ORDER BY id";

async function showScores({ step, run }: Narration): Promise<void> {
  step(
    'Score texts from a file',
    'You pay once for identical texts (2 and 4), and the same command resumes a batch that was interrupted.',
  );
  const file = join(FOLDER, 'reviews.csv');
  await writeFile(file, `${REVIEWS.join('\n')}\n`);
  const topics = ['delivery', 'support', 'price'].flatMap((topic) => ['--topic', topic]);
  const columns = ['--text', 'comment', '--id', 'id', ...topics, '--columns', 'comment'];
  await run(['score', file, ...columns, '--batch', 'reviews']);
  await run(['query', SCORES]);
}

/** Imports the formulas that a code function returns. Prepares to rename a column in them, but sends nothing. */
async function showFormulas({ step, run }: Narration, { platform }: Instance): Promise<void> {
  step(
    'Know what is in formulas',
    'A search does not return their text, but a code function of the platform does. It shows which columns they use.',
  );
  const { packageId, expression } = platform.samples();
  const file = join(FOLDER, 'formulas.ndjson');
  const job = { version: 1, type: 'run-function', id: 'formulas', packageId, packageVersion: '1.1.0' };
  const message = { ...job, functionName: 'listFormulas', importFormulas: true };
  await writeFile(file, `${JSON.stringify(message)}\n`);
  await run(['run', file]);
  const [row = ''] = platform.calculations();
  const dataset = /"DATA_SOURCE","id":"([^"]+)"/.exec(row)?.[1] ?? '';
  const column = /`([^`]+)`/.exec(expression)?.[1] ?? '';
  const changes = join(FOLDER, 'rename.csv');
  await run(['where-used', column, '--kind', 'column', '--dataset', dataset, '--limit', '3']);
  // Some formulas of the sandbox do not parse; the commands list them and exit with 3.
  const expected = [exitCodes.done, exitCodes.incomplete];
  const rename = ['formula', 'rename-column', column, `New ${column}`, '--dataset', dataset];
  await run([...rename, '--output', changes], { expected });
  await run(['formula', 'apply', changes, '--name', 'rename', '--dry-run'], { only: /would be set/ });
}

const REPORT = join(FOLDER, 'report.html');

async function showReport({ step, run }: Narration): Promise<void> {
  step(
    'Look at the report',
    'One HTML page: what is broken, what changed, what uses what, the batch, the jobs.',
  );
  await run(['report', '--output', REPORT]);
}

const ending = (): readonly string[] => [
  `\n${'─'.repeat(100)}\nTry this next`,
  `     ${'SYNC_STORE=platform-sync-data/tour npx platform-sync query'.padEnd(62)}SQL over what you have just seen`,
  `     ${'npx platform-sync sandbox > sandbox.env'.padEnd(62)}a platform of your own to play with`,
  `     ${'npx platform-sync --help'.padEnd(62)}all commands`,
  `     ${'docs/recipes.md'.padEnd(62)}a copy every night, a CSV, a function on an event, a fleet`,
  `\nThe report:      ${pathToFileURL(resolve(REPORT))}`,
  `Everything else: ${resolve(FOLDER)}`,
];

type Narration = ReturnType<typeof createNarration>;

/** Time between two checks whether a command is in the middle of its work, in milliseconds. */
const CHECK_EVERY_MS = 20;

/** The file that starts the command line in its own process. */
const COMMAND = fileURLToPath(new URL('../bin.js', import.meta.url));

/** How a command of the tour is run. */
type RunOptions = {
  /** Settings for this command only. */
  readonly settings?: Terminal['environment'];
  /** The exit codes that are expected. Default: only 0. */
  readonly expected?: readonly number[];
  /** If set, only the lines of the output that match are shown. */
  readonly only?: RegExp;
};

/** Creates the functions that print the tour: its numbered steps, and the commands in them. */
function createNarration(terminal: Terminal, steps: number) {
  const { out, signal, environment } = terminal;
  let begun = 0;
  return {
    say: out,
    /** Begins a step: prints its title and its purpose in one line. */
    step(title: string, why: string) {
      begun += 1;
      out(`\n${'─'.repeat(RULE)}\n${begun}/${steps}  ${title}\n     ${why}`);
    },
    /**
     * Shows a command as users type it, and runs it. Throws the reason of a stop, and an Error for an unexpected
     * exit code.
     */
    async run(
      argv: readonly string[],
      { settings = {}, expected = [exitCodes.done], only }: RunOptions = {},
    ) {
      signal.throwIfAborted();
      const command = `platform-sync ${argv.map(quoted).join(' ')}`;
      out(`\n$ ${command}`);
      const hidden: string[] = [];
      const code = await runCommandLine(argv, {
        ...(only === undefined ? terminal : onlyLines(only, terminal, hidden)),
        environment: { ...environment, ...settings },
      });
      signal.throwIfAborted();
      if (expected.includes(code)) return;
      for (const text of hidden) out(text);
      throw new Error(`${command} exited with code ${code}, which the tour did not expect`);
    },
    /** Shows a command, runs it in its own process, and kills it when `isTime` is true. Throws if it exits earlier. */
    async runKilled(argv: readonly string[], isTime: () => Promise<boolean>, settings = {}) {
      out(`\n$ platform-sync ${argv.join(' ')}`);
      const env = { ...environment, ...settings };
      // If the tour is stopped, the signal kills this process too.
      const child = spawn(process.execPath, [COMMAND, ...argv], {
        env,
        signal,
        stdio: 'ignore',
        killSignal: 'SIGKILL',
      });
      const ended = once(child, 'exit');
      ended.catch(() => undefined);
      while (!(await isTime())) {
        if (child.exitCode !== null)
          throw new Error(`${argv.join(' ')} exited with code ${child.exitCode} before it could be killed`);
        await sleep(CHECK_EVERY_MS, signal);
      }
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The terminal, except that it prints only matching lines. All lines are added to `hidden`. */
function onlyLines(only: RegExp, terminal: Terminal, hidden: string[]): Terminal {
  const show = (text: string) => {
    hidden.push(text);
    for (const line of text.split('\n')) if (only.test(line)) terminal.out(line);
  };
  return { ...terminal, out: show, err: show };
}

const RULE = 100;
