import { describe, expect, test } from 'vitest';
import { createWaitLimit } from '../../../../lib/jobs/texts/scoring/scoring-session.ts';

const { signal } = new AbortController();

/** Resolves when nothing can continue without a new event. */
const settled = () => new Promise(setImmediate);

/** Attempts that start when the limit admits them, and end when the test ends them. */
function attempts(limit = createWaitLimit()) {
  const started: string[] = [];
  const leaves = new Map<string, () => void>();
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const begin = (name: string, enter = limit.enter(), given = signal) => {
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    return enter((leave) => {
      started.push(name);
      leaves.set(name, leave);
      return end.promise;
    }, given);
  };
  return {
    started,
    begin,
    leave: (name: string) => leaves.get(name)?.(),
    end: (name: string) => ends.get(name)?.resolve(`${name} ended`),
    fail: (name: string) => ends.get(name)?.reject(new Error(`${name} failed`)),
  };
}

describe('while two texts of a process wait for their slots, a third', () => {
  test('starts once the call for one of them has left, even though it has not ended', async () => {
    const { begin, started, leave, end } = attempts();
    const one = begin('one');
    for (const name of ['two', 'three', 'four']) begin(name);
    await settled();
    expect(started).toEqual(['one', 'two']);

    leave('one');
    await settled();

    expect(started).toEqual(['one', 'two', 'three']);
    end('one');
    expect(await one).toBe('one ended');
  });

  test('starts once one of them has ended without a call', async () => {
    const { begin, started, end } = attempts();
    for (const name of ['one', 'two', 'three']) begin(name);
    await settled();

    end('two');
    await settled();

    expect(started).toEqual(['one', 'two', 'three']);
  });

  test('starts once one of them has failed, and the caller gets the error', async () => {
    const { begin, started, fail } = attempts();
    const one = begin('one');
    for (const name of ['two', 'three']) begin(name);
    await settled();

    fail('one');

    await expect(one).rejects.toThrow('one failed');
    await settled();
    expect(started).toEqual(['one', 'two', 'three']);
  });
});

test('a text of the chunk that entered first goes first, whenever it arrives', async () => {
  const limit = createWaitLimit(1);
  const { begin, started, end } = attempts(limit);
  const [first, second] = [limit.enter(), limit.enter()];
  begin('busy');
  begin('of the second', second);
  begin('of the first', first);
  await settled();

  end('busy');
  await settled();

  expect(started).toEqual(['busy', 'of the first']);
});

test('an attempt that is aborted before its start is never started', async () => {
  const { begin, started, end } = attempts(createWaitLimit(1));
  const stopping = new AbortController();
  begin('busy');
  const waiting = begin('waiting', undefined, stopping.signal);
  await settled();

  stopping.abort(new Error('enough'));

  await expect(waiting).rejects.toThrow('enough');
  end('busy');
  await settled();
  expect(started).toEqual(['busy']);
});

test('an attempt that is aborted after its start ends by itself', async () => {
  const { begin, end } = attempts();
  const stopping = new AbortController();
  const one = begin('one', undefined, stopping.signal);
  await settled();

  stopping.abort(new Error('enough'));
  await settled();
  end('one');

  expect(await one).toBe('one ended');
});
