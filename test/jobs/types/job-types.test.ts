import { expect, test } from 'vitest';
import { jobTimes } from '../../../lib/jobs/job-times.ts';
import { parseMessage } from '../../../lib/jobs/message/message.ts';
import { definitionOf, jobTypes, sampleMessages } from '../../../lib/jobs/types/job-types.ts';

const records = {
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  calculationId: '12',
  expression: 'COUNT(*)',
  datasetIds: ['11111111-1111-4111-8111-111111111111'],
  filesetIds: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'],
  dataFileIds: ['1', '2'],
};

const jobs = sampleMessages(records).map((message) => {
  const parsed = parseMessage(JSON.stringify(message), {
    messageId: 'queue-1',
    allow: { types: [...jobTypes] },
  });
  if (parsed.kind === 'refused') throw new Error(parsed.faults.join('; '));
  return parsed.job;
});

test('the sample of each type is a message of that type', () => {
  expect(jobs.map(({ type }) => type)).toEqual(jobTypes);
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobTypes.length);
});

test('no send lasts longer than the time limit of code functions', () => {
  expect(Math.max(...jobs.map((job) => definitionOf(job).timeoutMs ?? 0))).toBeLessThanOrEqual(
    jobTimes.codeFunctionMs,
  );
});
