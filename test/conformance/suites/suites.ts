import { dynamodb } from './dynamodb.ts';
import { events } from './events.ts';
import { lambda } from './lambda.ts';
import { packaged } from './package.ts';
import { readers } from './readers.ts';
import { s3 } from './s3.ts';
import { services } from './services.ts';
import { sql } from './sql.ts';
import { sqs } from './sqs.ts';
import type { Suite } from './suite.ts';
import { templates } from './templates.ts';
import { whole } from './whole.ts';

/**
 * Every suite by the name that `npm run conformance` takes: one import and one line add one. The longest come first, so
 * that none of them is left alone at the end.
 */
export const suites = {
  whole,
  sql,
  package: packaged,
  readers,
  dynamodb,
  s3,
  sqs,
  services,
  events,
  lambda,
  templates,
} as const satisfies Readonly<Record<string, Suite>>;

export type SuiteName = keyof typeof suites;
