import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleMessages } from '../../jobs/types/job-types.ts';
import { codePackages } from '../../sandbox/platform/functions/packages.ts';
import type { Sandbox } from '../../sandbox/platform/start-platform.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { counted, type Terminal } from '../terminal/terminal.ts';
import { drainByTwo } from './killed.ts';
import type { Narration } from './narration.ts';
import { formulaFor, type Instance, sampleRecords } from './samples.ts';

/** The most characters of a job that are shown. */
const SHOWN = 96;

/** Long enough for two workers to wait for a response at once, at two calls a second. */
const LATENCY_MS = 600;

/** Functions that are run besides one job of every type. */
const SUMS = 7;

/** Runs jobs of every type from the queue in the store's folder, by two workers, one of which is killed. */
export async function tellJobs(
  { run, say }: Narration,
  instance: Instance,
  terminal: Terminal,
  folder: string,
): Promise<void> {
  await instance.restart({ latencyMs: LATENCY_MS });
  const { platform } = instance;
  const packageId = codePackages[0]?.id ?? '';
  const sums = Array.from({ length: SUMS }, (_, index) => sumOf(packageId, index + 1));
  const samples = sampleMessages({ ...sampleRecords(platform), packageId, ...formulaFor(platform) });
  const file = join(folder, 'jobs.ndjson');
  const lines = [...sums, ...samples].map((message) => JSON.stringify(message));
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  say(`\n${file} has ${SUMS} more functions, and one job of each type:`);
  for (const line of lines.slice(SUMS)) say(`  ${line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line}`);
  await run(['submit', file], { shows: false });
  say('\n$ platform-sync work --drain & platform-sync work --drain');
  const { ledger } = await openJobs(terminal);
  await drainByTwo(
    terminal,
    async () => (await Array.fromAsync(ledger.list())).filter(({ state }) => state === 'SENT').length,
  );
  say('One of the two was killed (kill -9) in the middle of a job; the other has done the rest.');
  await run(['jobs']);
  const sent = sentTo(platform);
  say(
    `\nThe platform ran ${sent.functions}, set ${sent.formulas} and scored ${sent.texts}: ${sent.twice} twice.`,
  );
  for await (const { id, state } of ledger.list()) {
    if (state !== 'UNKNOWN') continue;
    const word = sent.has(sums.find((sum) => sum.id === id)?.inputVariables) ? 'done' : 'failed';
    await run(['jobs', 'resolve', id, word, '--note', 'I looked on the platform']);
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

/** What arrived at the platform, in words, and how much of it did so more than once. */
function sentTo(platform: Sandbox) {
  const { executions, formulaUpdates, sentimentCalls } = platform.counts();
  const inputs = executions.map(({ inputVariables }) => JSON.stringify(inputVariables));
  const [formulas, texts] = [Object.values(formulaUpdates), Object.values(sentimentCalls)];
  const repeats = [...formulas, ...texts].filter((times) => times > 1).length;
  return {
    functions: counted(inputs.length, 'function'),
    formulas: counted(formulas.length, 'formula'),
    texts: counted(texts.length, 'text'),
    twice: repeats + inputs.length - new Set(inputs).size || 'nothing',
    has: (input: unknown) => inputs.includes(JSON.stringify(input)),
  };
}
