import { elasticMq } from '../engines/elasticmq.ts';
import { moto } from '../engines/moto.ts';
import type { Suite } from './suite.ts';

const FILES = [
  'test/jobs/queue/queue.test.ts',
  'test/conformance/sqs/limits.conformance.ts',
  'test/cli/submit.test.ts',
  'test/cli/work.test.ts',
  'test/cli/jobs.test.ts',
];

/** What queues do with messages, and the commands that send, receive, hide and redrive them. */
export const sqs: Suite = [
  { engines: [elasticMq], files: FILES },
  { engines: [moto], files: FILES },
];
