import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import PQueue from 'p-queue';
import type { Engines } from '../base/aws/engines.ts';
import { printFailure } from '../counts.ts';
import { numberOption, readUsage } from '../proofs/usage.ts';
import type { Engine } from './engines/engine.ts';
import { knownDifferences } from './known-differences.ts';
import { fetchEngine } from './runner/fetch-engine.ts';
import { type Guard, startGuard } from './runner/guard.ts';
import { findJava } from './runner/java.ts';
import { judge } from './runner/judge.ts';
import { runTests } from './runner/run-tests.ts';
import { startEngine } from './runner/start-engine.ts';
import { engineOf, notRunIn, type Outcome, type Row, tableOf, totalOf } from './runner/table.ts';
import { type Chosen, choose } from './suites/suites.ts';

/*
 * `npm run conformance [-- NAME…]`: runs tests against third-party engines. `--fetch` only fetches the engines, for at
 * most `--fetch-minutes`. See docs/conformance.md. An engine that is not available here is reported, but is not a
 * failure; one that runs and differs is.
 */

/** Number of concurrent suites if there are many: a suite spends half of its time waiting. */
const LANES = 2;

/** A suite that takes longer than this hangs: the longest suites take a quarter of it. */
const SUITE_MS = 1_200_000;

const { chosen, fetchesOnly, fetchMs } = readUsage(() => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      fetch: { type: 'boolean', default: false },
      'fetch-minutes': { type: 'string', default: '30' },
    },
  });
  const fetchMinutes = numberOption('fetch-minutes', values['fetch-minutes']);
  return { chosen: choose(positionals), fetchesOnly: values.fetch, fetchMs: fetchMinutes * 60_000 };
});
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));

try {
  process.exitCode = await main();
} catch (error) {
  if (!stopped.signal.aborted) throw error;
  console.error(stopped.signal.reason.message);
  process.exitCode = 130;
}

async function main(): Promise<number> {
  await using guard = startGuard();
  const fetched = fetchAll(chosen, guard);
  if (fetchesOnly) {
    for (const [{ name }, fetching] of fetched) {
      const found = await fetching;
      console.log(`${name}: ${'folder' in found ? found.folder : `not fetched: ${found.notRun}`}`);
    }
    console.log('0 passed, 0 failed');
    return 0;
  }
  const lanes = new PQueue({ concurrency: LANES });
  const rows = await Promise.all(
    chosen.map(async ({ suite, run }): Promise<Row> => {
      await Promise.all(run.engines.map((engine) => fetched.get(engine)));
      return { suite, run, outcome: await lanes.add(() => outcomeOf({ suite, run }, fetched, guard)) };
    }),
  );
  const { passed, failed } = totalOf(rows);
  console.log(`\n${[tableOf(rows), ...notRunIn(rows)].join('\n')}\n\n${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

/** The folder of an engine, or the reason why it is not available. */
type Found = { readonly folder: string } | { readonly notRun: string };
type Fetched = ReadonlyMap<Engine, Promise<Found>>;

/**
 * Fetches all engines at the same time, since some wait for the network while others compile. A suite starts once its
 * engines are there.
 */
function fetchAll(chosen: readonly Chosen[], guard: Guard): Fetched {
  const cache = process.env['CONFORMANCE_CACHE'] ?? join(homedir(), '.cache', 'platform-sync', 'conformance');
  const late = AbortSignal.timeout(fetchMs);
  const signal = AbortSignal.any([late, stopped.signal]);
  const engines = [...new Set(chosen.flatMap(({ run }) => run.engines))];
  const fetch = async (engine: Engine): Promise<Found> => {
    try {
      if (engine.java !== undefined) await findJava(engine.java);
      const folder = await fetchEngine(engine, { cache, guard, signal });
      await engine.reach?.();
      return { folder };
    } catch (error) {
      stopped.signal.throwIfAborted();
      const notRun = late.aborted ? `fetching took longer than ${fetchMs / 60_000} min` : messageOf(error);
      return { notRun };
    }
  };
  return new Map(engines.map((engine) => [engine, fetch(engine)]));
}

async function outcomeOf({ suite, run }: Chosen, fetched: Fetched, guard: Guard): Promise<Outcome> {
  const startedAt = Date.now();
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(SUITE_MS)]);
  await using running = new AsyncDisposableStack();
  let engines: Engines = {};
  try {
    for (const engine of run.engines) {
      const found = (await fetched.get(engine)) ?? { notRun: 'not fetched' };
      if ('notRun' in found) return found;
      const started = running.use(await startEngine(engine, { fetched: found.folder, signal, guard }));
      engines = { ...engines, ...started.engines };
    }
    const heading = `\n${suite} on ${engineOf(run)}`;
    const print = (output: string) => console.log(`${heading}\n${output}`);
    // Concurrent suites print only after they have ended.
    if (chosen.length === 1) console.log(heading);
    const report = await runTests(run.files, engines, {
      signal,
      guard,
      print: chosen.length === 1 ? undefined : print,
    });
    const known = knownDifferences.filter((each) => each.suite === suite && each.engine === engineOf(run));
    const verdict = judge(report, known);
    for (const failure of verdict.failures) console.error(printFailure(failure));
    for (const complaint of verdict.complaints) console.error(`FAILED: ${complaint}`);
    return { ...verdict, durationMs: Date.now() - startedAt };
  } catch (error) {
    stopped.signal.throwIfAborted();
    console.error(`FAILED: ${suite} on ${engineOf(run)}: ${messageOf(error)}`);
    const none = { tests: 0, passed: 0, knownDifferences: 0, failures: [], complaints: [] };
    return { ...none, failed: 1, durationMs: Date.now() - startedAt };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
