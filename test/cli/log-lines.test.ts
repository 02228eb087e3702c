import { describe, expect, test } from 'vitest';
import { clockTime, createLogLines } from '../../lib/cli/terminal/log-lines.ts';
import { RequeueError } from '../../lib/jobs/send-context.ts';
import { createLogger } from '../../lib/logger.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { StoreError } from '../../lib/store/error.ts';
import { TableError } from '../../lib/table/index.ts';

const NOON = new Date(2026, 10, 22, 12, 0, 0).getTime();

/** A logger over a clock that the test moves, and the lines that a person sees. */
function startLog() {
  const shown: string[] = [];
  let nowMs = NOON;
  const logger = createLogger('info', createLogLines({ err: (line) => shown.push(line), now: () => nowMs }));
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { logger, shown, pass };
}

const failed = (failure: PlatformFailure) =>
  new PlatformError(failure, {
    operation: 'runFunction',
    about: 'add',
    host: 'acme.example.com',
    attempts: 1,
  });
const refused = { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' } as const;
const paused = { kind: 'wait', waitMs: 60_000, maxWaitMs: 20_000, isPaused: true } as const;
const job = { job: 'j1', type: 'run-function' };

describe('a log line for people', () => {
  test('has the time of day, the level and words', () => {
    const { logger, shown, pass } = startLog();

    logger.warn({ operation: 'listCards', attempt: 1, delayMs: 2_130, failure: refused }, 'retry');
    logger.warn(
      { host: 'acme.example.com', open: { cause: 'unreachable' } },
      'the platform is unavailable: no jobs are taken',
    );
    logger.warn(
      { host: 'acme.example.com', open: { cause: 'refused token' } },
      'the platform is unavailable: no jobs are taken',
    );
    pass(3_661_000);
    logger.info({ host: 'acme.example.com', open: {} }, 'the platform is available again');

    expect(shown).toEqual([
      '12:00:00 warning: listCards: no connection could be made (ECONNREFUSED); trying again in 2.1 s',
      '12:00:00 warning: acme.example.com is unavailable (unreachable): no jobs are taken until it is available again',
      '12:00:00 warning: acme.example.com refuses the token of this worker or of another worker: no jobs are taken until it accepts a token',
      '13:01:01 info: acme.example.com is available again',
    ]);
    expect(clockTime(NOON)).toBe('12:00:00');
  });

  test('says why a job was requeued, but not how a job ended, which is shown elsewhere', () => {
    const { logger, shown } = startLog();
    const err = failed({ kind: 'status', status: 401 });

    logger.warn({ ...job, after: 'later', err }, 'job not done');
    logger.warn({ ...job, after: 'leave', err: new RequeueError('the lease was lost', 0) }, 'job not done');
    logger.warn({ ...job, after: 'end', err }, 'job not done');
    logger.info({ ...job, status: 'failed', attempts: 1 }, 'job ended');
    logger.info({ event: { id: 'j1' } }, 'JobFinished');

    expect(shown).toEqual([
      '12:00:00 warning: run-function j1: runFunction (add) at acme.example.com failed: the server responded with 401; check that the token is correct, and neither expired nor revoked; it is back on the queue',
      '12:00:00 warning: run-function j1: the lease was lost; another worker has taken it over',
    ]);
  });

  test('says once a minute that a person paused calls, whatever number of calls and jobs wait', () => {
    const { logger, shown, pass } = startLog();

    for (const id of ['j1', 'j2', 'j3'])
      logger.warn({ ...job, job: id, after: 'later', err: failed(paused) }, 'job not done');
    logger.warn({ operation: 'listCards', attempt: 1, delayMs: 60_000, failure: paused }, 'retry');
    pass(60_000);
    logger.warn({ ...job, after: 'later', err: failed(paused) }, 'job not done');

    const words = 'paused by `pace --pause`: nothing is sent until `pace --resume`';
    expect(shown).toEqual([`12:00:00 warning: ${words}`, `12:01:00 warning: ${words}`]);
  });

  test('has a service’s message, without a stack', () => {
    const { logger, shown } = startLog();
    const err = new StoreError('put a in s3://acme', { kind: 'busy', code: 'SlowDown' });

    logger.error({ messageId: 'm1', err }, 'message not handled');
    const unavailable = new TableError('read', { kind: 'busy', code: 'Throttling' });
    logger.warn({ err: unavailable, problem: 'TableUnavailable' }, 'table unavailable: nothing is sent');
    logger.warn(
      { refused: 'refused/m2.json', faults: ['type: expected a job', 'id: no'] },
      'message refused',
    );

    expect(shown).toEqual([
      '12:00:00 error: message not handled: put a in s3://acme: busy, SlowDown (messageId m1)',
      '12:00:00 warning: the table with the fleet’s budget does not respond (read: busy, Throttling): nothing is sent until it does',
      '12:00:00 warning: a message was refused (refused/m2.json): type: expected a job; id: no',
    ]);
  });

  test('has the facts of a message that it does not know', () => {
    const { logger, shown } = startLog();

    logger.warn({ place: 'files', run: { id: 'r' }, records: 3 }, 'something');
    logger.warn('nothing else');

    expect(shown).toEqual([
      '12:00:00 warning: something (place files, run {"id":"r"}, records 3)',
      '12:00:00 warning: nothing else',
    ]);
  });

  test('is printed as JSON if it is nested too deeply', () => {
    const { logger, shown } = startLog();
    const deep = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`);

    logger.warn({ deep }, 'odd');

    expect(shown[0]).toMatch(/^12:00:00 log: \{"level":"warn".*\[\[/);
  });

  test('contains nothing that could move the cursor, and has a bounded length', () => {
    const { logger, shown } = startLog();

    logger.warn({ faults: `a\u001b[2Jb\u202e${'x'.repeat(1_000_000)}` }, 'some\u0007thing');

    expect(shown.join('')).toMatch(/^[\x20-\x7e…]+$/);
    expect(shown.join('').length).toBeLessThan(20_100);
  });
});
