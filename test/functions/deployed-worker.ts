import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { bareEnvironment, compileCache } from '../compile-cache.ts';
import { createHandlerProcess } from '../local-aws/functions/create-handler-process.ts';
import { startEventSourceMapping } from '../local-aws/functions/event-source-mapping.ts';

/** As deployed: above the 330 s that a code function may take, with the visibility timeout above that. */
const TIMEOUT_MS = 350_000;
const VISIBILITY_SECONDS = 380;

/** The deployed handlers, in processes of their own, against the local AWS and a platform. */
export async function startDeployedWorker(
  platform: Sandbox,
  settings: Readonly<Record<string, string>> = {},
) {
  await using started = new AsyncDisposableStack();
  const aws = started.use(
    await startTestAws({
      buckets: ['sync'],
      queues: [
        {
          name: 'jobs',
          visibilitySeconds: VISIBILITY_SECONDS,
          deadLetter: { queue: 'dead', maxReceiveCount: 1_000 },
        },
        { name: 'dead' },
      ],
      tables: ['sync'],
    }),
  );
  const environment: Readonly<Record<string, string>> = {
    ...bareEnvironment,
    ...aws.settings,
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
    PLATFORM_RATE: '2000',
    PLATFORM_CONCURRENCY: '20',
    SYNC_STORE: `s3://${aws.bucket('sync')}/nightly`,
    SYNC_TABLE: 'sync',
    SYNC_QUEUE_URL: aws.queueUrl('jobs'),
    SYNC_DEAD_LETTER_URL: aws.queueUrl('dead'),
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const logs: string[] = [];
  const handlerOf = (name: string) => ({
    file: `functions/${name}/handler.ts`,
    environment,
    timeoutMs: TIMEOUT_MS,
    writable: [compileCache.NODE_COMPILE_CACHE],
    onLog: (line: string) => void logs.push(line),
  });
  const splitTexts = started.use(createHandlerProcess(handlerOf('split-texts')));
  started.use(
    await startEventSourceMapping({ aws, queueUrl: aws.queueUrl('jobs'), ...handlerOf('run-jobs') }),
  );
  const running = started.move();
  return {
    store: await openStore(`s3://${aws.bucket('sync')}/nightly`, { s3: aws.settings }),
    queue: await openQueue(aws.queueUrl('jobs'), aws.settings),
    logs,
    /** Notifies split-texts of a new object, as S3 does through EventBridge. */
    objectCreated: (key: string) =>
      splitTexts.invoke({
        version: '0',
        'detail-type': 'Object Created',
        source: 'aws.s3',
        detail: { bucket: { name: aws.bucket('sync') }, object: { key: `nightly/${key}` } },
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
