import { dynamoDbLocal } from '../engines/dynamodb-local.ts';
import { elasticMq } from '../engines/elasticmq.ts';
import { moto } from '../engines/moto.ts';
import { versitygw } from '../engines/versitygw.ts';
import type { Suite } from './suite.ts';

/** Thousands of jobs on all of them together. The queues are those of ElasticMQ, which takes moto's place there. */
export const whole: Suite = [
  {
    engines: [moto, elasticMq, dynamoDbLocal, versitygw],
    files: ['test/conformance/whole/whole.conformance.ts'],
  },
];
