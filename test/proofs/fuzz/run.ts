import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { numberOption, oneOf, readUsage, wrong } from '../usage.ts';
import { tryInput } from './target.ts';
import { fuzzTargets, targetNamed } from './targets.ts';
import { type ThreadReport, watchedFuzz } from './watched-fuzz.ts';

/*
 * `npm run fuzz -- [TARGET] [--seconds N] [--seed S]`: fuzzes one target, or all, each for N seconds, and prints
 * the outcomes. `npm run fuzz -- TARGET --replay FILE` tries one input.
 */

/** How many kinds of outcome are printed, the most frequent first. */
const MAX_SHOWN = 12;

const { names, seed, seconds, input } = readUsage(() => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      replay: { type: 'string' },
    },
  });
  const all = fuzzTargets.map(({ name }) => name);
  return {
    names: positionals.length === 0 ? all : positionals.map((given) => oneOf('a target', given, all)),
    seed: numberOption('seed', values.seed),
    seconds: numberOption('seconds', values.seconds),
    input: values.replay === undefined ? undefined : inputIn(values.replay),
  };
});
for (const name of names) {
  if (input === undefined) await run(name);
  else await replay(name, input.value);
}
process.exit();

async function run(target: string): Promise<void> {
  console.log(`${target}: seed ${seed}, ${seconds} s`);
  const startedMs = performance.now();
  const report = await watchedFuzz({ target, seed, seconds });
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  const rate = Math.round(report.executions / tookSeconds);
  console.log(`  ${report.executions} executions, ${rate}/s, ${report.outcomes.length} kinds of outcome`);
  for (const [outcome, count] of report.outcomes.toSorted(([, a], [, b]) => b - a).slice(0, MAX_SHOWN))
    console.log(`  ${String(count).padStart(8)}  ${outcome}`);
  if (report.found !== undefined) reportFinding(target, report.found);
}

function reportFinding(target: string, { message, input }: NonNullable<ThreadReport['found']>): void {
  const folder = join(tmpdir(), 'platform-sync-fuzz');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${target}-${Date.now()}.json`);
  writeFileSync(file, `${JSON.stringify(input)}\n`);
  console.log(`  FOUND ${message}\n  input: ${file}\n  npm run fuzz -- ${target} --replay ${file}`);
  process.exitCode = 1;
}

function inputIn(file: string): { readonly value: unknown } {
  try {
    return { value: JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    throw wrong('--replay', `a file of JSON (${error instanceof Error ? error.message : error})`, file);
  }
}

async function replay(name: string, value: unknown): Promise<void> {
  const tried = await tryInput(targetNamed(name), value);
  if (tried.kind === 'finding') process.exitCode = 1;
  console.log(
    tried.kind === 'finding'
      ? `FOUND ${tried.finding.message}`
      : tried.kind === 'outcome'
        ? tried.outcome
        : 'not an input of this target',
  );
}
