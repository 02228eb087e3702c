import { parentPort, workerData } from 'node:worker_threads';
import { fuzz } from './fuzz.ts';
import { corpusOf, targetNamed } from './targets.ts';
import { setInput, type ThreadOptions, type ThreadReport } from './watched-fuzz.ts';

/* A thread that fuzzes one target for some seconds, and reports once. */

const { target: name, seed, seconds, current } = workerData as ThreadOptions;
const target = targetNamed(name);
const untilMs = performance.now() + seconds * 1_000;

const { executions, outcomes, found } = await fuzz(target, {
  seed,
  runs: Number.POSITIVE_INFINITY,
  isOver: () => performance.now() > untilMs,
  corpus: corpusOf(name).map(({ input }) => input),
  onInput: (input) => setInput(current, input),
});
await target.close?.();
const report: ThreadReport = {
  executions,
  outcomes: [...outcomes],
  ...(found === undefined ? {} : { found: { message: found.finding.message, input: found.input } }),
};
parentPort?.postMessage(report);
