import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import { bareEnvironment } from '../compile-cache.ts';
import { scaled, scaledTimeout } from '../scale.ts';
import { jobServices } from './job-services.ts';
import { mixedJobs } from './mixed-jobs.ts';

/*
 * Jobs of all types keep their promises with real processes, on the local SQS or in a folder alone: workers are killed
 * with SIGKILL in the middle of jobs, and the platform loses responses after it has done the work.
 */

const JOBS = scaled(70, 2_000);
const KILLS = scaled(2, 12);
const CONCURRENCY = 20;

function startWorker(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['test/jobs/worker-process.ts'], {
    env: { ...bareEnvironment, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { child, ended: once(child, 'exit') };
}

test.for(Object.entries(jobServices))(
  `in %s, each of ${JOBS} jobs has its result, and none is done twice, if their worker is killed repeatedly`,
  { timeout: scaledTimeout(600_000) },
  async ([, open]) => {
    await using platform = await startPlatform({
      calculations: 50,
      dataFiles: 20,
      faults: 0.05,
      rate: 10_000,
    });
    await using place = await open();
    const environment = {
      ...place.settings,
      PLATFORM_BASE_URL: platform.url,
      PLATFORM_TOKEN: platform.token,
      PLATFORM_RATE: '2000',
      PLATFORM_CONCURRENCY: String(CONCURRENCY),
      // A text that a killed worker had claimed can be claimed again one second after this.
      PLATFORM_TIMEOUT_MS: '2000',
      SYNC_COMPRESSION: 'gzip',
    };
    const queue = await openQueue(place.settings['SYNC_QUEUE_URL'] ?? '', environment);
    const jobs = mixedJobs(JOBS, platform, { sharesTexts: true });
    await queue.send(jobs.map((job) => JSON.stringify(job)));

    const executions = () => platform.counts().executions.length;
    for (let kills = 0; kills < KILLS; kills += 1) {
      const { child, ended } = startWorker(environment);
      // Seven in ten jobs are functions. A killed worker may leave 20 of them that were recorded as sent and never ran;
      // and the last worker needs some jobs too.
      const enough = ((kills + 1) / (KILLS + 1)) * Math.max(JOBS * 0.7 - KILLS * CONCURRENCY, JOBS * 0.2);
      while (executions() < enough && child.exitCode === null) await delay(10);
      await delay((kills * 37) % 100);
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
    }
    const { ended } = startWorker(environment);
    expect(await ended).toEqual([0, null]);

    const store = await openStore(place.settings['SYNC_STORE'] ?? '', { s3: place.settings });
    const results = new Map<string, { status: string; response?: { status?: string } }>();
    for await (const { key } of store.list('results/')) {
      const result = JSON.parse((await store.get(key))?.body.toString() ?? 'null');
      expect(results.has(result.id)).toBe(false);
      results.set(result.id, result);
    }
    expect(results.size).toBe(JOBS);
    const counts = platform.counts();
    const executed = new Map<number, number>();
    for (const { inputVariables } of counts.executions) {
      const { first } = inputVariables as { first: number };
      executed.set(first, (executed.get(first) ?? 0) + 1);
    }
    expect(Math.max(...executed.values())).toBe(1);
    for (const [index, job] of jobs.entries()) {
      const status = results.get(`job-${index}`)?.status;
      if (job.type !== 'run-function') continue;
      if (status === 'done') expect(executed.get(index)).toBe(1);
      if (status === 'failed') expect(executed.get(index)).toBeUndefined();
    }
    const statuses = [...results.values()].map(({ status }) => status);
    // The jobs that were running at a kill may become unknown; the platform's faults affect few others.
    const done = statuses.filter((status) => status === 'done').length;
    expect(done).toBeGreaterThan(JOBS * 0.97 - KILLS * CONCURRENCY);
    expect(await queue.counts()).toEqual({ waiting: 0, inFlight: 0, delayed: 0 });
  },
);
