import { randomBytes } from 'node:crypto';
import { jobTypes } from '../../lib/contract.ts';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { objectCreated } from '../local-aws/stack/object-created.ts';
import { startStack } from '../local-aws/stack/start-stack.ts';
import { synthStack } from '../local-aws/stack/synth-stack.ts';
import { readStack } from '../local-aws/stack/template.ts';

/**
 * Timeout of a test in milliseconds. If several suites run at the same time, most of it goes to synth and the start of
 * seven functions.
 */
export const DEPLOYED_TIMEOUT_MS = 300_000;

const instance = {
  name: 'worker',
  baseUrl: 'https://worker.invalid',
  rate: 2_000,
  concurrency: 20,
  compression: 'gzip',
  allow: { types: jobTypes },
  textsQueue: true,
};

/**
 * Starts the deployed functions that run jobs and split texts, with their roles, against the local AWS and a platform.
 * Their table is in the conformance engine, if the runner of the conformance tests names one.
 */
export async function startDeployedWorker(platform: Sandbox) {
  await using started = new AsyncDisposableStack();
  const { folder } = started.use(await synthStack(instance));
  const { dynamoDb } = enginesOf(process.env);
  const stack = started.use(
    await startStack({
      ...(await readStack(folder)),
      texts: { [instance.baseUrl]: platform.url },
      secret: platform.token,
      dynamoDb: dynamoDb && { ...dynamoDb, accessKeyId: randomBytes(10).toString('hex') },
    }),
  );
  started.use(await stack.poll());
  const store = await openStore(stack.output('Store'), { s3: stack.settings });
  const [bucket = ''] = stack.output('Store').split('/').slice(2);
  const running = started.move();
  return {
    store,
    queue: await openQueue(stack.output('QueueUrl'), stack.settings),
    /** The requests that were denied since their roles do not allow them. */
    refusals: () => stack.access.refusals(),
    /** Notifies split-texts of a new object, as S3 does through EventBridge. */
    objectCreated: (key: string) => stack.emit(objectCreated({ bucket, key, sizeBytes: 58, etag: 'b57f' })),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
