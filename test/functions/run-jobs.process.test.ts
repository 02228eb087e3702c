import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import type { Store } from '../../lib/store/store.ts';
import { DEPLOYED_TIMEOUT_MS, startDeployedWorker } from './deployed-worker.ts';

const packageId = codePackages[0]?.id ?? '';

test('the deployed handler runs jobs of every type, and refuses a message that is not a job', {
  timeout: DEPLOYED_TIMEOUT_MS,
}, async () => {
  await using platform = await startPlatform({ calculations: 40, dataFiles: 5 });
  await using deployed = await startDeployedWorker(platform);
  const [calculationId] = [...platform.calculations()].map((line) => /"id":(\d+)/.exec(line)?.[1]);
  const [dataFileId = ''] = platform.ids().dataFiles;
  const notBefore = new Date(Date.now() + 5_000).toISOString();
  const run = { version: 1, type: 'run-function', packageId, packageVersion: '1.0.0' };

  await deployed.queue.send(
    [
      { ...run, id: 'adds', functionName: 'addNumbers', inputVariables: { first: 2, second: 3 } },
      { ...run, id: 'is-not-there', functionName: 'noSuchFunction' },
      // The message returns to the queue until then.
      { ...run, id: 'waits', functionName: 'addNumbers', inputVariables: { first: 1, second: 1 }, notBefore },
      // The message has no id, so it is sent again with one.
      { ...run, functionName: 'addNumbers', inputVariables: { first: 4, second: 5 } },
      { ...run, packageVersion: '1.1.0', id: 'imports', functionName: 'listFormulas', importFormulas: true },
      { version: 1, type: 'score', id: 'scores', texts: [{ id: 'a', text: 'This is wonderful!' }] },
      { version: 1, type: 'update-formula', id: 'sets', calculationId, expression: '1 + 1' },
      { version: 1, type: 'data-files', id: 'reads', ids: [dataFileId, '999999999'] },
      { version: 1, type: 'snapshot', id: 'snaps', source: 'calculations' },
    ]
      .map((job) => JSON.stringify(job))
      .concat('no JSON'),
  );
  const results = await resultsOf(deployed.store, 9);

  expect(results.get('adds')).toMatchObject({
    status: 'done',
    sender: '000000000000',
    response: { result: 5 },
  });
  expect(results.get('waits')).toMatchObject({ status: 'done', response: { result: 2 } });
  expect([...results.values()]).toContainEqual(
    expect.objectContaining({ status: 'done', response: expect.objectContaining({ result: 9 }) }),
  );
  expect(results.get('is-not-there')).toMatchObject({
    status: 'failed',
    error: { kind: 'status', status: 404 },
  });
  expect(results.get('scores')).toMatchObject({
    status: 'done',
    response: { results: [{ id: 'a', cached: false, calls: 1, result: { type: 'DEFAULT' } }] },
  });
  expect(results.get('sets')).toMatchObject({ status: 'done', response: { expression: '1 + 1' } });
  expect(results.get('reads')).toMatchObject({
    status: 'done',
    response: { files: [{ dataFileId: Number(dataFileId) }], missing: [{ id: '999999999', status: 404 }] },
  });
  expect(results.get('snaps')).toMatchObject({
    status: 'done',
    response: { started: expect.stringMatching(/^calculations-/) },
  });
  expect(results.get('imports')).toMatchObject({ status: 'done' });
  expect(await keysOf(deployed.store, 'formulas/imported/')).toHaveLength(1);
  expect(await keysOf(deployed.store, 'refused/')).toHaveLength(1);
  expect(await keysOf(deployed.store, `formulas/${calculationId}/`)).toHaveLength(1);
  expect(deployed.refusals()).toEqual([]);
});

/** Waits for this number of results, and returns them by job id. */
async function resultsOf(store: Store, expected: number): Promise<ReadonlyMap<string, unknown>> {
  for (let look = 0; look < 150; look += 1) {
    const keys = await keysOf(store, 'results/');
    if (keys.length >= expected) {
      const results = await Promise.all(
        keys.map(async (key) => JSON.parse((await store.get(key))?.body.toString() ?? 'null')),
      );
      return new Map(results.map((result) => [result.id, result]));
    }
    await delay(200);
  }
  throw new Error(`expected ${expected} results, got ${await keysOf(store, 'results/')}`);
}

async function keysOf(store: Store, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}
