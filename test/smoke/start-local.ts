import { setTimeout as delay } from 'node:timers/promises';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import { type LocalStack, startStack } from '../local-aws/stack/start-stack.ts';
import { synthStack } from '../local-aws/stack/synth-stack.ts';
import { readStack } from '../local-aws/stack/template.ts';
import type { Deployment, SmokeInputs } from './smoke.ts';

const BASE_URL = 'https://smoke.invalid';

const [{ id: packageId } = { id: '' }] = codePackages;
const sums = { packageId, packageVersion: '1.0.0', functionName: 'addNumbers' };

/** A code function and an event rule of the local stack. */
export const localInputs = {
  job: { ...sums, inputVariables: { first: 2, second: 3 } },
  event: { source: 'smoke', detailType: 'Sum', detail: { first: 2, second: 3 } },
} satisfies SmokeInputs;

const instance = {
  name: 'smoke',
  baseUrl: BASE_URL,
  rate: 2_000,
  logLevel: 'warn',
  eventRules: [
    {
      name: 'sums',
      pattern: { source: [localInputs.event.source] },
      ...sums,
      inputVariables: { first: '$.detail.first', second: '$.detail.second' },
    },
  ],
};

/** Deploys a stack on this machine with a new small platform, until it is disposed of. */
export async function startLocal(): Promise<Deployment & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const platform = started.use(await startPlatform({ calculations: 40, filesPerSet: 10 }));
  const synthesized = started.use(await synthStack(instance));
  const texts = { [BASE_URL]: platform.url };
  const run = { ...(await readStack(synthesized.folder)), texts, secret: platform.token };
  const stack = started.use(await startStack(run));
  started.use(await stack.poll());
  const deployment = await localDeployment(stack);
  const running = started.move();
  return { ...deployment, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A stack on this machine, whose queues are polled. It has neither Athena nor CloudWatch. */
async function localDeployment(stack: LocalStack): Promise<Deployment> {
  const ran = new Set(stack.lambda.requests.map(({ name }) => name));
  return {
    store: await openStore(stack.output('Store'), { s3: stack.settings }),
    query: undefined,
    redAlarms: undefined,
    send: async (job) =>
      (await openQueue(stack.output('QueueUrl'), stack.settings)).send([JSON.stringify(job)]),
    async emit({ source, detailType, detail }) {
      const id = `smoke-${Date.now()}`;
      await stack.emit({ version: '0', id, source, 'detail-type': detailType, detail });
      return id;
    },
    async wait() {
      await delay(100);
      for (const { name } of stack.lambda.requests) {
        if (name === undefined || ran.has(name)) continue;
        ran.add(name);
        await stack.runExecution(name);
      }
    },
  };
}
