import { describe, expect, test } from 'vitest';
import type { TextClaim } from '../../../../lib/jobs/texts/cache/text-claim.ts';
import { type Analyze, startRun } from '../../../../lib/jobs/texts/scoring/run.ts';
import { sendText } from '../../../../lib/jobs/texts/scoring/send-text.ts';
import { sentimentOf, worker } from '../fakes.ts';

const NOW = 1_000_000;
const request = { text: 'good' };

/** Sends a text by this call, with a claim that writes down what is asked of it. */
function sending(
  analyze: Analyze,
  { claim = {}, deadlineMs }: { readonly claim?: Partial<TextClaim>; readonly deadlineMs?: number } = {},
) {
  const asked: string[] = [];
  const stopping = new AbortController();
  const one = worker(analyze);
  const run = startRun({ ...one.options, deadlineMs, signal: stopping.signal });
  const given: TextClaim = {
    sends: () => 1,
    async send() {
      asked.push('send');
      return { kind: 'sent' };
    },
    async takeBack() {
      asked.push('take back');
    },
    isHeld: () => true,
    finish: async (stored) => ({ stored, sends: 1 }),
    release: async () => undefined,
    forget: async () => undefined,
    ...claim,
  };
  const sent = () => sendText(request, given, () => asked.push('leave'), run);
  return { asked, sent, stop: () => stopping.abort(new Error('stopped')), pass: one.pass, run };
}

test('records the send once, leaves the gate, and returns the result', async () => {
  const { asked, sent, run } = sending(async (of, { beforeSend, onLeave, once } = {}) => {
    await beforeSend?.();
    await beforeSend?.();
    onLeave?.();
    expect(once).toBe(true);
    return sentimentOf(of);
  });

  expect(await sent()).toEqual({ kind: 'result', result: sentimentOf(request) });
  expect(asked).toEqual(['send', 'leave']);
  expect(run.departures()).toBe(1);
});

describe('once time is up', () => {
  test('no call is begun', async () => {
    const { sent } = sending(() => Promise.reject(new Error('expected no call')), { deadlineMs: NOW });

    expect(await sent()).toEqual({ kind: 'held', untilMs: NOW });
  });

  test('no send is recorded', async () => {
    const { asked, sent, pass } = sending(
      async (of, { beforeSend } = {}) => {
        pass(10);
        await beforeSend?.();
        return sentimentOf(of);
      },
      { deadlineMs: NOW + 10 },
    );

    expect(await sent()).toEqual({ kind: 'held', untilMs: NOW + 10 });
    expect(asked).toEqual([]);
  });

  test('no call leaves, and what was recorded is taken back', async () => {
    const { asked, sent, pass } = sending(
      async (of, { beforeSend, onLeave } = {}) => {
        await beforeSend?.();
        pass(10);
        onLeave?.();
        return sentimentOf(of);
      },
      { deadlineMs: NOW + 10 },
    );

    expect(await sent()).toEqual({ kind: 'held', untilMs: NOW + 10 });
    expect(asked).toEqual(['send', 'take back']);
  });
});

test('no call leaves whose claim may end before it does', async () => {
  const { asked, sent } = sending(
    async (of, { beforeSend, onLeave } = {}) => {
      await beforeSend?.();
      onLeave?.();
      return sentimentOf(of);
    },
    { claim: { isHeld: () => false } },
  );

  expect(await sent()).toEqual({ kind: 'held', untilMs: NOW });
  expect(asked).toEqual(['send', 'take back']);
});

test('returns what another worker has made of the text, and takes nothing back', async () => {
  const taken = { kind: 'scored', result: sentimentOf(request), calls: 0 } as const;
  const { asked, sent } = sending(
    async (of, { beforeSend } = {}) => {
      await beforeSend?.();
      return sentimentOf(of);
    },
    { claim: { send: async () => taken } },
  );

  expect(await sent()).toEqual(taken);
  expect(asked).toEqual([]);
});

describe('a run that is stopped', () => {
  test.each([
    ['before the call begins', ['']],
    ['while the call waits for its turn', ['begin']],
  ])('%s aborts the call with its reason', async (_, [when]) => {
    const { sent, stop } = sending(async (of, { signal } = {}) => {
      if (when === 'begin') stop();
      signal?.throwIfAborted();
      return sentimentOf(of);
    });
    if (when === '') stop();

    await expect(sent()).rejects.toThrow('stopped');
  });

  test('records no send', async () => {
    const { asked, sent, stop } = sending(async (of, { beforeSend } = {}) => {
      stop();
      await beforeSend?.();
      return sentimentOf(of);
    });

    await expect(sent()).rejects.toThrow('stopped');
    expect(asked).toEqual([]);
  });

  test('lets no call leave, and takes back what was recorded', async () => {
    const { asked, sent, stop } = sending(async (of, { beforeSend, onLeave } = {}) => {
      await beforeSend?.();
      stop();
      onLeave?.();
      return sentimentOf(of);
    });

    await expect(sent()).rejects.toThrow('stopped');
    expect(asked).toEqual(['send', 'take back']);
  });

  test('lets a call that has left finish', async () => {
    const { sent, stop } = sending(async (of, { beforeSend, onLeave, signal } = {}) => {
      await beforeSend?.();
      onLeave?.();
      stop();
      signal?.throwIfAborted();
      return sentimentOf(of);
    });

    expect(await sent()).toEqual({ kind: 'result', result: sentimentOf(request) });
  });
});
