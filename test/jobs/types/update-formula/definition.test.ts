import { expect, test } from 'vitest';
import { updateFormula } from '../../../../lib/jobs/types/update-formula/definition.ts';
import type { Platform } from '../../../../lib/platform/index.ts';
import { calculation } from '../../../platform/sample-records.ts';
import { runnerOf } from '../../runner-of.ts';

type Change = { readonly strict?: boolean; readonly unlessChangedSince?: number; readonly name?: string };

const job = { version: 1, type: 'update-formula', id: 'f', calculationId: '5', expression: '1' } as const;

/** Updates a calculation on a platform that responds with `json`. `log`: the steps in their order. */
async function update(json: unknown, change: Change = {}) {
  const log: unknown[] = [];
  const raw = async (_: unknown, { body, query }: Given, { beforeSend, onSend, ...options }: Options) => {
    await beforeSend();
    onSend();
    log.push({ ...body, ...query, ...options });
    return { text: ` ${JSON.stringify(json)}\n`, json };
  };
  async function* pages() {
    log.push('searched');
    yield { rows: [{ id: '5', lastModified: 5_000 }], degraded: false };
  }
  const platform = { call: { raw }, calculations: { pages } } as unknown as Platform;
  const { signal } = new AbortController();
  const turn = {
    signal,
    priority: 'high',
    beforeSend: async () => void log.push('recorded'),
    onSend: () => void log.push('leaves'),
  } as const;
  const { response, ...outcome } = await runnerOf(updateFormula, platform)({ ...job, ...change }, turn);
  const sent = { expression: '1', signal, priority: 'high', once: true, finishes: true };
  return { outcome, log, sent, response };
}

type Given = { readonly body: object; readonly query: object };
type Options = { readonly beforeSend: () => Promise<void>; readonly onSend: () => void };

const INVALID =
  'calculation 5: expected a formula that the platform can parse, got one that it calls INVALID; it is stored';
const OTHER = 'the response is about another calculation: check both on the platform';

test.each([
  [calculation({ id: 5, expression: '1' }), { status: 'done' }],
  [calculation({ id: '005', expression: '1', status: null }), { status: 'done' }],
  [
    { id: null, status: ' invalid' },
    { status: 'failed', error: { kind: 'invalid-formula', message: INVALID } },
  ],
  [calculation({ id: 5, expression: '2', dataType: undefined }), { status: 'done' }],
  [{ expression: '1' }, { status: 'done' }],
  [null, { status: 'done' }],
  ['OK', { status: 'done' }],
  [{ id: 6 }, { status: 'unknown', error: { kind: 'answer', message: OTHER } }],
])('an update is sent once, and its outcome follows from the response %#', async (json, expected) => {
  const { outcome, log, sent, response } = await update(json);

  expect(outcome).toEqual(expected);
  expect(log).toEqual(['recorded', 'leaves', sent]);
  expect(response).toBe(JSON.stringify(json));
});

test('the calculation is searched for first if it must not have changed', async () => {
  const { log, sent } = await update(calculation({ id: 5, expression: '1' }), {
    strict: true,
    unlessChangedSince: 5_000,
    name: 'Margin',
  });

  expect(log).toEqual(['searched', 'recorded', 'leaves', { ...sent, strict: true }]);
});

test('the number of calls of an update is known unless the calculation is searched for', () => {
  expect(updateFormula.maxCalls(job)).toBe(1);
  expect(updateFormula.maxCalls({ ...job, unlessChangedSince: 1, name: 'Margin' })).toBeUndefined();
  expect(updateFormula.mayRepeat(job)).toBe(false);
});
