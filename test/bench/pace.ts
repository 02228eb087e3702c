import { createLocalPace } from '../../lib/pace/local-pace.ts';
import { createPlatform } from '../../lib/platform/client.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { type Bench, bounded, percent } from './bench.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const SECONDS = 60;

/** A busy client 2 % below a platform's limit, for a minute: how much of the limit it uses, and how often it is refused. */
export const pace: Bench = {
  name: 'pace',
  run: async () => [...(await oneProcess(10)), ...(await oneProcess(50))],
};

async function oneProcess(limit: number) {
  await using sandbox = await startSandboxProcess('--calculations', '100', '--rate', String(limit));
  const platform = createPlatform({
    baseUrl: sandbox.settings['PLATFORM_BASE_URL'] ?? '',
    token: fixedToken(sandbox.settings['PLATFORM_TOKEN'] ?? ''),
    pace: createLocalPace({ rate: limit * 0.98, concurrency: 8 }),
  });
  const untilMs = performance.now() + SECONDS * 1000;
  let used = 0;
  const keepBusy = async () => {
    while (performance.now() < untilMs) {
      await platform.calculations.search({ sort: { field: 'id', ascending: true }, limit: 1 });
      if (performance.now() < untilMs) used += 1;
    }
  };

  await Promise.all(Array.from({ length: 8 }, keepBusy));

  const { byOperation, mostInOneSecond } = await sandbox.counts();
  const refused = byOperation['searchCalculations']?.['429'] ?? 0;
  const share = used / (limit * SECONDS);
  const at = `limit ${limit}/s, PLATFORM_RATE ${limit * 0.98}, ${SECONDS} s`;
  return [
    bounded(`share of the limit used (${at})`, percent(share), 'at least 97 %', share >= 0.97),
    bounded(`refused with 429 (${at})`, String(refused), 'none', refused === 0),
    bounded(
      `most in any sliding second (${at})`,
      String(mostInOneSecond),
      `at most ${limit}`,
      mostInOneSecond <= limit,
    ),
  ];
}
