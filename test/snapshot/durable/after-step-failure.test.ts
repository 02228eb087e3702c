import { expect, test } from 'vitest';
import { AwsError } from '../../../lib/base/aws/fault.ts';
import type { PlatformFailure } from '../../../lib/platform/failure.ts';
import { PlatformError } from '../../../lib/platform/platform-error.ts';
import { afterStepFailure } from '../../../lib/snapshot/durable/durable-snapshot.ts';
import { CheckpointConflictError } from '../../../lib/snapshot/run/checkpoint.ts';
import { SnapshotStoppedError } from '../../../lib/snapshot/run/snapshot-stopped-error.ts';
import { StoreError } from '../../../lib/store/error.ts';
import { StoredObjectError } from '../../../lib/store/stored-json.ts';
import { TableError } from '../../../lib/table/table-error.ts';

const platform = (failure: PlatformFailure) =>
  new PlatformError(failure, { operation: 'searchFiles', about: 'a FileSet', attempts: 1 });
const status = (code: number) => platform({ kind: 'status', status: code });
const busy = new StoreError('put a part', { kind: 'busy', code: 'SlowDown' });
const conflict = new CheckpointConflictError('another process moved it');
const noRegion = { kind: 'unconfigured', code: 'MissingRegion', expected: 'AWS_REGION' } as const;
const denied = new StoreError('put a part', { kind: 'denied', code: 'AccessDenied' });

test.each([
  ['an error of the platform', status(503)],
  ['a token that the platform refuses', status(401)],
  ['a time-out', platform({ kind: 'timeout', timeoutMs: 60_000, phase: 'exchange' })],
  ['a store that is busy', busy],
  ['a checkpoint that another process moved', conflict],
  ['several temporary failures', new AggregateError([status(503), busy, conflict])],
  ['a stop caused by such a failure', new SnapshotStoppedError('files', 'a run', status(503))],
  ['an unknown error', new Error('who knows')],
])('a step is retried after %s', (_, error) => {
  expect(afterStepFailure(error, 1, 0.5)).toEqual({ kind: 'retry', delayMs: 1_000 });
});

test.each([
  ['400', status(400)],
  ['403', status(403)],
  ['a response of another shape', platform({ kind: 'shape', faults: ['id: expected an integer'] })],
  ['an invalid object', new StoredObjectError('invalid', 'no manifest')],
  ['a store that denies access', denied],
  ['a store without a region', new StoreError('put a part', noRegion)],
  ['a table without a region', new TableError('put a row', noRegion)],
  [
    'another service without a region',
    new AwsError('token', 'read a secret', new Error('Region is missing')),
  ],
  ['several failures, one of them permanent', new AggregateError([busy, status(403)])],
  ['a stop caused by such a failure', new SnapshotStoppedError('files', 'a run', status(403))],
])('a step ends the run immediately after %s', (_, error) => {
  expect(afterStepFailure(error, 1, 0.5)).toMatchObject({ kind: 'stop' });
});

test('the waits of a step double up to ten minutes, and there are twenty', () => {
  const after = [1, 2, 9, 20, 21].map((attempt) => afterStepFailure(status(503), attempt, 0.5));

  expect(after).toEqual([
    { kind: 'retry', delayMs: 1_000 },
    { kind: 'retry', delayMs: 2_000 },
    { kind: 'retry', delayMs: 256_000 },
    { kind: 'retry', delayMs: 300_000 },
    { kind: 'stop', why: 'exhausted' },
  ]);
});

test('waits that the platform asks for are respected, whatever their number', () => {
  const throttled = platform({ kind: 'status', status: 429, retryAfterMs: 90_000 });
  const paused = platform({ kind: 'wait', waitMs: 40_000, maxWaitMs: 20_000 });

  expect(afterStepFailure(throttled, 100, 0.5)).toEqual({ kind: 'retry', delayMs: 90_000 });
  expect(afterStepFailure(paused, 100, 0.5)).toEqual({ kind: 'retry', delayMs: 40_000 });
});
