import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { adds } from '../cli/start-jobs.ts';
import { type LocalStack, startStack } from '../local-aws/stack/start-stack.ts';
import { synthStack } from '../local-aws/stack/synth-stack.ts';
import { readStack, type StackToRun } from '../local-aws/stack/template.ts';

/*
 * An instance whose event rules and queues for code functions and texts were turned off while jobs were on these
 * queues. The queues still exist, and the deployed function moves their jobs to the queue that is still polled.
 */

const running = new AsyncDisposableStack();
let deployed: StackToRun;
let stack: LocalStack;

beforeAll(async () => {
  const instance = {
    name: 'deployed',
    baseUrl: 'https://deployed.invalid',
    tokenParameter: '/deployed/token',
  };
  deployed = await readStack(running.use(await synthStack(instance)).folder);
  stack = running.use(await startStack({ ...deployed, secret: 'token' }));
}, 120_000);

afterAll(() => running.disposeAsync());

const idOf = (start: string) =>
  Object.keys(deployed.template.Resources).find((id) => new RegExp(`^${start}[0-9A-F]{8}$`).test(id)) ?? '';

function queueOf(start: string) {
  const url = String(stack.resolve({ Ref: idOf(start) }));
  return createSqsQueue(
    url,
    running.adopt(createSqsClient(url, stack.settings), (each) => each.destroy()),
  );
}

async function bodiesOn(start: string): Promise<readonly string[]> {
  const queue = queueOf(start);
  const bodies = new Set<string>();
  for (let quiet = 0; quiet < 3; quiet += 1)
    for (const { body } of await queue.receive({ max: 10, waitSeconds: 1, visibilitySeconds: 60 })) {
      bodies.add(body);
      quiet = 0;
    }
  return [...bodies];
}

test('jobs on queues that were turned off move to the queue of all jobs, and the role for it allows nothing else', async () => {
  const jobs = Array.from({ length: 25 }, (_, index) =>
    JSON.stringify({ version: 1, ...adds(`job-${index}`) }),
  );
  const text = JSON.stringify({ version: 1, type: 'score', id: 'text', text: 'Late again.' });
  await queueOf('JobsFunctionsQueue').send(jobs);
  await queueOf('JobsTextsQueue').send([text]);

  await stack.runSchedule(idOf('IdleQueuesHourly'));

  expect((await bodiesOn('JobsQueue')).toSorted()).toEqual([...jobs, text].toSorted());
  expect(await bodiesOn('JobsFunctionsQueue')).toEqual([]);
  expect(await bodiesOn('JobsTextsQueue')).toEqual([]);
  expect(stack.access.refusals()).toEqual([]);
});
