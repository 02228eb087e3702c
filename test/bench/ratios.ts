import { atMost, type Bench } from './bench.ts';
import { startOf } from './cold.ts';
import { jobRatios } from './jobs.ts';
import { publishInTurns, shareOf } from './publish.ts';
import { scanRatios } from './snapshot.ts';

/** Maximum ratios: 1.5 times the values on an idle machine. */
const MAX = {
  scan: 2.9,
  'scan and tables': 9,
  publish: { 'first run': 0.2, unchanged: 0.2, '1 % changed': 0.7, 'all changed': 2 },
  function: 2,
  text: 2.5,
  cold: 3.3,
} as const;

/** The ratios that CI checks, on small work. The other benches measure them on more work. */
export const ratios: Bench = {
  name: 'ratios',
  about:
    'The ratios that decide, on small work, with loose bounds: they run in CI, so that a doubling is seen at once. CPU times of whole processes that take turns, but for cold starts.',
  async *run() {
    const [without, withTables] = await scanRatios();
    yield atMost('100,000 calculations, scanned and published ÷ floor', without, MAX.scan);
    yield atMost('… and their tables ÷ floor', withTables, MAX['scan and tables']);
    for await (const taken of publishInTurns('calculations', 50_000))
      yield atMost(
        `50,000 calculations, ${taken.variant}: publish ÷ scan`,
        shareOf(taken),
        MAX.publish[taken.variant],
      );
    const [functions, texts] = await jobRatios();
    yield atMost('a function ÷ Powertools', functions, MAX.function);
    yield atMost('a text ÷ the careful handler', texts, MAX.text);
    const { startMs, aloneMs } = await startOf('run-jobs', 7);
    yield atMost("start of run-jobs ÷ the SDK's clients", startMs / aloneMs, MAX.cold);
  },
};
