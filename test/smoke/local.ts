import { setTimeout as delay } from 'node:timers/promises';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { openStore } from '../../lib/store/open.ts';
import type { LocalStack } from '../local-aws/stack/start-stack.ts';
import type { Deployment } from './deployment.ts';

/** A stack on this machine, whose queues are polled. It has neither Athena nor CloudWatch. */
export async function localDeployment(stack: LocalStack): Promise<Deployment> {
  const url = stack.output('QueueUrl');
  const ran = new Set(stack.lambda.requests.map(({ name }) => name));
  return {
    store: await openStore(stack.output('Store'), { s3: stack.settings }),
    query: undefined,
    redAlarms: undefined,
    async send(job) {
      const client = createSqsClient(url, stack.settings);
      await createSqsQueue(url, client).send([JSON.stringify(job)]);
      client.destroy();
    },
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
