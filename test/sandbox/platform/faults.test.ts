import { afterEach, describe, expect, test } from 'vitest';
import { faultKinds, faults, kindFor } from '../../../lib/sandbox/platform/http/faults.ts';
import type { PlatformOptions } from '../../../lib/sandbox/platform/options.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { call, small, smallPlatform } from './call-platform.ts';

let running: Sandbox | undefined;
afterEach(() => running?.close());

async function start(options: PlatformOptions): Promise<Sandbox> {
  running = await startPlatform({ ...small, ...options });
  return running;
}

/** Sets a formula over a real connection. */
async function setFormula(sandbox: Sandbox) {
  const { id } = sandbox.state.calculations.at(0);
  const response = await fetch(`${sandbox.url}/api/query/v1/functions/template/${id}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { [sandbox.tokenHeader]: sandbox.token },
    body: JSON.stringify({ expression: '1 + 2' }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const updates = (sandbox: Sandbox) => Object.values(sandbox.counts().formulaUpdates);

describe('a fault, if the sandbox is called over HTTP:', () => {
  test.each([
    ['error-platform', 500, 'application/json', /^\{"status":500,.*"toe":"[0-9A-Z-]{22}"\}$/],
    ['error-message', 503, 'application/json', /^\{"message":"[^"]+"\}$/],
    ['error-text', 500, 'application/json', /^"[^"]+"$/],
    ['error-page', 502, 'text/html', /^<!DOCTYPE html>/],
    ['login-page', 200, 'text/html', /<title>Sign in<\/title>/],
    ['login-redirect', 303, 'text/html', /^<!DOCTYPE html>/],
  ] as const)('%s responds with %i as %s, and no work was done', async (kind, status, type, body) => {
    const sandbox = await start({ plannedFaults: { 1: kind } });

    const response = await setFormula(sandbox);

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.text).toMatch(body);
    expect(updates(sandbox)).toEqual([]);
    expect(sandbox.counts().faults).toEqual([
      { request: 1, operation: 'updateFormula', kind, when: 'before' },
    ]);
  });

  test('a reset before the work breaks the connection, and no work was done', async () => {
    const sandbox = await start({ plannedFaults: { 1: 'reset-before' } });

    await expect(setFormula(sandbox)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });

    expect(updates(sandbox)).toEqual([]);
    expect(sandbox.counts().byOperation).toEqual({ updateFormula: { reset: 1 } });
  });

  test('a reset after the work loses the response, but the work was done', async () => {
    const sandbox = await start({ plannedFaults: { 1: 'reset-after' } });

    await expect(setFormula(sandbox)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });

    expect(updates(sandbox)).toEqual([1]);
    expect(sandbox.counts().faults).toMatchObject([{ kind: 'reset-after', when: 'after' }]);
  });

  test('a cut body ends early after status 200, and the work was done', async () => {
    const sandbox = await start({ plannedFaults: { 1: 'cut-body' } });

    await expect(setFormula(sandbox)).rejects.toThrow('terminated');

    expect(updates(sandbox)).toEqual([1]);
    expect(sandbox.counts().byOperation).toEqual({ updateFormula: { cut: 1 } });
  });

  test('an error after the work responds with 500 although the work was done', async () => {
    const sandbox = await start({ plannedFaults: { 1: 'error-after' } });

    const { status } = await setFormula(sandbox);

    expect(status).toBe(500);
    expect(updates(sandbox)).toEqual([1]);
  });
});

describe('a fault, if the sandbox is called within the process:', () => {
  const path = '/api/query/v1/functions/search';
  const body = { filters: [], sort: { field: 'id', ascending: true }, limit: 100 };

  test.each(['reset-before', 'reset-after', 'cut-body'] as const)('%s rejects the request', async (kind) => {
    const platform = smallPlatform({ plannedFaults: { 1: kind } });

    await expect(call(platform, { path, body })).rejects.toThrow(TypeError);
  });
});

describe('the plan of faults', () => {
  const plan = { share: 0.25, kinds: faultKinds, planned: {} };
  const planned = ({ seed = 3, ...changes }: Partial<typeof plan> & { readonly seed?: number } = {}) =>
    Array.from({ length: 2000 }, (_, index) =>
      kindFor('fault', { seed, number: index + 1 }, { ...plan, ...changes }),
    );

  test('affects the configured share of the requests, the same ones for the same seed', () => {
    const share = planned().filter((kind) => kind !== undefined).length / 2000;

    expect(share).toBeGreaterThan(0.22);
    expect(share).toBeLessThan(0.28);
    expect(planned()).toEqual(planned());
    expect(planned({ seed: 4 })).not.toEqual(planned());
  });

  test('includes every kind of fault, each either before or after the work', () => {
    const kinds = new Set(
      planned().filter((kind): kind is (typeof faultKinds)[number] => kind !== undefined),
    );

    expect(kinds).toEqual(new Set(faultKinds));
    expect(new Set(Object.values(faults))).toEqual(new Set(['before', 'after']));
  });

  test('affects no request with a share of 0, and all with a share of 1', () => {
    expect(new Set(planned({ share: 0 }))).toEqual(new Set([undefined]));
    expect(new Set(planned({ share: 1, kinds: ['reset-after'] }))).toEqual(new Set(['reset-after']));
  });
});
