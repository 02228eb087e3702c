import type { Finished } from './promises.ts';

const DAY_MS = 86_400_000;

/**
 * **One truth**: `runs` lists only published runs, with the one that `latest.json` names first, and the report counts
 * the results that exist. `checkPublished` checks that no run is missing.
 */
export async function checkAnswers({ scene, published, read, broken }: Finished): Promise<void> {
  const wrong = (what: string) => broken(`One truth: ${what}`);
  const { store, world } = scene;
  const results = new Map<string, number>();
  const { jobs, listed, faults } = read;
  const toMs = Math.floor(world.now() / DAY_MS + 1) * DAY_MS;
  for await (const { key } of store.list('results/')) {
    const [, type = '', day = ''] = /^results\/([^/]+)\/dt=([^/]+)\//.exec(key) ?? [];
    const isCounted = Date.parse(day) >= jobs.sinceMs && Date.parse(day) <= toMs;
    if (isCounted) results.set(type, 1 + (results.get(type) ?? 0));
  }
  const counted = new Map(
    jobs.types.map(({ type, done, failed, unknown }) => [type, done + failed + unknown]),
  );
  for (const [type, count] of results)
    if (counted.get(type) !== count)
      wrong(`the report counts ${counted.get(type)} results of ${type}, and the store has ${count}`);

  for (const what of faults) wrong(what);
  for (const { run, fault } of listed) if (fault !== null) wrong(`run ${run}: ${fault}`);
  for (const source of new Set(published.moves.map((moved) => moved.source))) {
    const runs = listed.filter((each) => each.source === source).map(({ run }) => run);
    const moves = new Set(published.moves.filter((each) => each.source === source).map(({ run }) => run));
    const newest = published.moves.findLast((each) => each.source === source)?.run;
    if (runs[0] !== newest) wrong(`the first of ${source} is ${runs[0]}, not ${newest}`);
    for (const run of runs)
      if (!moves.has(run)) wrong(`${run} of ${source} is listed, and was never published`);
  }
}
