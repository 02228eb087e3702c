import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readAhead } from '../../../lib/base/async.ts';
import type { PlatformFailure } from '../../../lib/platform/failure.ts';
import { PlatformError } from '../../../lib/platform/platform-error.ts';
import { afterFailure, fanOut } from '../../../lib/snapshot/sources/fan-out.ts';
import { batchOfLines, recordsIn } from '../batches.ts';
import { statusError } from '../responding-call.ts';
import { fromBeginning, resumedEverywhere, scanned } from '../scanned.ts';

type FanOutOptions = Parameters<typeof fanOut>[0];

const unhandled: unknown[] = [];
const recordUnhandled = (reason: unknown) => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', recordUnhandled);
});

afterEach(async () => {
  await settled();
  process.off('unhandledRejection', recordUnhandled);
  expect(unhandled).toEqual([]);
});

/** Resolves when nothing can continue without a new event. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const ids = (count: number) => Array.from({ length: count }, (_, at) => `id${at}`);

const recordsOf = (...keys: readonly string[]) =>
  batchOfLines(keys.map((key) => ({ key, line: JSON.stringify(key) })));

const fanOutOf = (options: Pick<FanOutOptions, 'ids' | 'read'> & Partial<FanOutOptions>) =>
  fanOut({ total: null, ...options });

test('ids with a 404 or 403 response are missing, in the order of the ids', async () => {
  const read = async (id: string) => {
    if (id === 'id1') throw statusError(403);
    if (id === 'id3') throw statusError(404);
    return recordsOf(id);
  };

  const { keys, outcome } = await scanned(fanOutOf({ ids: ids(5), read }));

  expect(keys).toEqual(['id0', 'id2', 'id4']);
  expect(outcome).toEqual({
    consistency: 'proved',
    assumes: ['current-responses'],
    totals: { start: null, end: null },
    order: 'ids',
    missing: [
      { id: 'id1', status: 403 },
      { id: 'id3', status: 404 },
    ],
    refused: [],
  });
});

test.each([400, 409, 410, 422, 423, 451, 499, 500, 503])(
  'an id with a lasting %i is missing if other ids get a response',
  async (status) => {
    const requested: string[] = [];
    const read = async (id: string) => {
      requested.push(id);
      if (id === 'id0' || id === 'id3') throw statusError(status);
      return recordsOf(id);
    };

    const { keys, outcome } = await scanned(fanOutOf({ ids: ids(5), read }));

    expect(keys).toEqual(['id1', 'id2', 'id4']);
    expect(outcome).toMatchObject({
      missing: [
        { id: 'id0', status },
        { id: 'id3', status },
      ],
      refused: [],
    });
    // Statuses that may come from the platform's own trouble are requested again after another id had a response.
    expect(requested.filter((id) => id === 'id3')).toHaveLength([400, 409, 410].includes(status) ? 1 : 2);
  },
);

test('an id that failed together with the platform, and succeeds once another one does, is not missing', async () => {
  let failures = 2;
  const read = async (id: string) => {
    failures -= 1;
    if (failures >= 0) throw statusError(503);
    return recordsOf(id);
  };

  const { keys, outcome } = await scanned(fanOutOf({ ids: ids(3), read }));

  expect(keys).toEqual(ids(3));
  expect(outcome.missing).toEqual([]);
});

test('an id that keeps failing is missing if another id is refused, since the platform responds', async () => {
  const read = (id: string) => Promise.reject(statusError(id === 'id0' ? 500 : 404));

  const { outcome } = await scanned(fanOutOf({ ids: ids(2), read }));

  expect(outcome.missing).toEqual([
    { id: 'id0', status: 500 },
    { id: 'id1', status: 404 },
  ]);
});

test('a token that is refused for another id stops the scan', async () => {
  const read = (id: string) => Promise.reject(statusError(id === 'id0' ? 500 : 401));

  await expect(scanned(fanOutOf({ ids: ids(2), read }))).rejects.toMatchObject({ failure: { status: 401 } });
});

describe('whether the platform responds at all', () => {
  const triedFor = async (id: string, lastRead?: string) => {
    const tried: string[] = [];
    const read = async (other: string) => {
      tried.push(other);
      throw statusError(503);
    };
    const error = statusError(500);
    await expect(afterFailure(error, { id, ids: ids(6), lastRead, read })).rejects.toBe(error);
    return tried;
  };

  test('is tried with the next ids, at most three, then with those before', async () => {
    expect(await triedFor('id0')).toEqual(['id1', 'id2', 'id3']);
    expect(await triedFor('id1')).toEqual(['id2', 'id3', 'id4']);
    expect(await triedFor('id4')).toEqual(['id5', 'id1', 'id2']);
    expect(await triedFor('id5')).toEqual(['id2', 'id3', 'id4']);
  });

  test('is tried only with the id that was read last, if there is one', async () => {
    expect(await triedFor('id3', 'id0')).toEqual(['id0']);
  });

  test('is tried without holding the memory of the response', async () => {
    const released: string[] = [];
    const read = async (id: string) => {
      if (id === 'id1') throw statusError(500);
      return { ...recordsOf(id), release: () => void released.push(id) };
    };

    await scanned(fanOutOf({ ids: ids(2), read }));

    expect(released).toEqual(['id0']);
  });
});

test('an id is missing after an unexpected or truncated response, or a timeout, but not without a connection', async () => {
  const missingFor = async (failure: PlatformFailure) => {
    const read = async (id: string) => {
      if (id !== 'id1') return recordsOf(id);
      throw new PlatformError(failure, { operation: 'anything', about: id, attempts: 1 });
    };
    return (await scanned(fanOutOf({ ids: ids(3), read }))).outcome.missing;
  };
  const timeout = { kind: 'timeout', timeoutMs: 60_000 } as const;

  expect(await missingFor({ kind: 'shape', faults: [] })).toEqual([{ id: 'id1', status: 200 }]);
  expect(await missingFor({ kind: 'too-large', maxBytes: 9 })).toEqual([{ id: 'id1', status: 200 }]);
  expect(await missingFor({ kind: 'not-json', status: 502, contentType: '' })).toEqual([
    { id: 'id1', status: 502 },
  ]);
  expect(await missingFor({ kind: 'redirect', status: 301, to: '/gone' })).toEqual([
    { id: 'id1', status: 301 },
  ]);
  expect(await missingFor({ kind: 'cut', detail: '' })).toEqual([{ id: 'id1', status: 0 }]);
  expect(await missingFor({ ...timeout, phase: 'exchange' })).toEqual([{ id: 'id1', status: 0 }]);
  await expect(missingFor({ ...timeout, phase: 'connect' })).rejects.toThrow('no complete response');
  await expect(missingFor({ kind: 'wait', waitMs: 9, maxWaitMs: 1 })).rejects.toThrow('wait');
});

test.each([401, 405, 407, 429])(
  'a lasting %i for one id stops the scan although others are read, since it concerns all ids',
  async (status) => {
    const read = async (id: string) => {
      if (id === 'id1') throw statusError(status);
      return recordsOf(id);
    };

    await expect(scanned(fanOutOf({ ids: ids(3), read }))).rejects.toMatchObject({ failure: { status } });
  },
);

test('an error that is not from the platform stops the scan', async () => {
  const fault = new Error('no space left');
  const read = async (id: string) => {
    if (id === 'id1') throw fault;
    return recordsOf(id);
  };

  await expect(scanned(fanOutOf({ ids: ids(3), read }))).rejects.toBe(fault);
});

test('if every id is a bad request, its error is thrown, since it says more than a list of ids', async () => {
  const read = () => Promise.reject(statusError(400));

  await expect(scanned(fanOutOf({ ids: ids(3), read }))).rejects.toMatchObject({ failure: { status: 400 } });
});

test('a run is incomplete if every id is missing, but not if no id was requested', async () => {
  const read = () => Promise.reject(statusError(403));

  expect((await scanned(fanOutOf({ ids: ids(3), read }))).outcome.refused).toEqual(['incomplete']);
  expect((await scanned(fanOutOf({ ids: [], read }))).outcome.refused).toEqual([]);
});

test.each([401, 500])(
  'a lasting %i for all ids stops the scan: nothing more is read, and what precedes it is written',
  async (status) => {
    const started: string[] = [];
    let isDown = false;
    const read = async (id: string) => {
      started.push(id);
      isDown ||= id === 'id5';
      if (isDown) throw statusError(status);
      return recordsOf(id);
    };
    const written: string[] = [];

    const scan = (async () => {
      const steps = fanOutOf({ ids: ids(100), read })(fromBeginning);
      for await (const { batch } of steps) written.push(...recordsIn(batch).keys);
    })();

    await expect(scan).rejects.toMatchObject({ failure: { status } });
    expect(written).toEqual(['id0', 'id1', 'id2', 'id3', 'id4']);
    expect(started.length).toBeLessThanOrEqual(15);
  },
);

test('a failure of a later id aborts the current reads immediately; the complete results before it are yielded', async () => {
  const aborted: string[] = [];
  const read = (id: string, signal: AbortSignal) => {
    if (id === 'id0' || id === 'id2') return Promise.resolve(recordsOf(id));
    if (id === 'id3') return settled().then(() => Promise.reject(statusError(401)));
    return new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => {
        aborted.push(id);
        reject(signal.reason);
      }),
    );
  };
  const results: unknown[] = [];

  const reading = (async () => {
    for await (const batch of readAhead({ items: ids(100), read, concurrency: 5 })) {
      results.push(...recordsIn(batch).keys);
    }
  })();

  await expect(reading).rejects.toMatchObject({ failure: { status: 401 } });
  expect(results).toEqual(['id0']);
  expect(aborted).toEqual(['id1', 'id4', 'id5']);
});

test('if the caller stops early, the current reads are aborted without an unhandled rejection', async () => {
  const signals: AbortSignal[] = [];
  const read = async (id: string, signal: AbortSignal) => {
    signals.push(signal);
    if (id === 'id0') return recordsOf(id);
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };

  for await (const { position } of fanOutOf({ ids: ids(20), read })(fromBeginning)) {
    expect(position.next).toBe(1);
    break;
  }
  await settled();

  expect(signals).toHaveLength(9);
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

test('an abort is rethrown, before the first call and during calls', async () => {
  const stop = new AbortController();
  let calls = 0;
  const read = (_: string, signal: AbortSignal) => {
    calls += 1;
    return new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
  };

  const scan = scanned(fanOutOf({ ids: ids(20), read }), { signal: stop.signal });
  await settled();
  stop.abort(new Error('enough'));

  await expect(scan).rejects.toThrow('enough');
  await expect(scanned(fanOutOf({ ids: ids(20), read }), { signal: stop.signal })).rejects.toThrow('enough');
  expect(calls).toBe(1);
});

test('a scan of ids that is resumed from any position reads exactly the rest and has the same outcome', async () => {
  const anyReplies = fc.array(fc.constantFrom(0, 1, 3, 403, 404), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(anyReplies, async (replies) => {
      const read = async (id: string) => {
        const count = replies[Number(id.slice(2))] ?? 0;
        if (count > 100) throw statusError(count);
        return recordsOf(...ids(count).map((each) => `${id}/${each}`));
      };

      const { whole, resumed } = await resumedEverywhere(fanOutOf({ ids: ids(replies.length), read }));

      for (const each of resumed) expect(each).toEqual(whole);
    }),
  );
});

test('after large responses only the next one is read ahead, and the first is read alone', async () => {
  const underWay: string[][] = [];
  let now: readonly string[] = [];
  const read = async (id: string) => {
    now = [...now, id];
    underWay.push([...now]);
    await settled();
    now = now.filter((each) => each !== id);
    return { ...recordsOf(id), heldBytes: 40 * 1024 * 1024 };
  };

  const { keys } = await scanned(fanOutOf({ ids: ids(3), read }));

  expect(keys).toEqual(['id0', 'id1', 'id2']);
  expect(underWay).toEqual([['id0'], ['id1'], ['id2']]);
});

test('each step says what fraction of the ids is done, even in a resumed scan', async () => {
  const read = async (id: string) => recordsOf(id);
  const scan = fanOutOf({ ids: ids(4), read });

  const shares = async (from: Parameters<typeof scan>[0]) => {
    const found = [];
    for await (const { share } of scan(from)) found.push(share);
    return found;
  };

  expect(await shares(fromBeginning)).toEqual([0.25, 0.5, 0.75, 1]);
  expect(await shares({ ...fromBeginning, from: { next: 2, records: 2, missing: 0 } })).toEqual([0.75, 1]);
});
