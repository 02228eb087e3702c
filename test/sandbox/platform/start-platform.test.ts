import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { PlatformOptions } from '../../../lib/sandbox/platform/options.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { small } from './call-platform.ts';

const search = (sandbox: Sandbox, init: RequestInit = {}) =>
  fetch(`${sandbox.url}/api/query/v1/functions/search`, {
    method: 'POST',
    headers: { [sandbox.tokenHeader]: sandbox.token },
    body: JSON.stringify({ filters: [], sort: { field: 'id', ascending: true }, limit: 5000 }),
    ...init,
  });

describe('a running platform', () => {
  test('listens only on loopback, and returns the same bytes for the same seed', async () => {
    await using one = await startPlatform({ ...small, seed: 9 });
    await using two = await startPlatform({ ...small, seed: 9 });

    const [first, second] = await Promise.all([search(one), search(two)]);

    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await first.text()).toBe(await second.text());
  });

  test('ends requests that wait when it is closed, immediately', async () => {
    const sandbox = await startPlatform({ ...small, latencyMs: 60_000 });
    const waiting = expect(search(sandbox)).rejects.toThrow('fetch failed');
    await sleep(50);
    const startedAt = performance.now();

    await sandbox.close();
    await waiting;

    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await expect(search(sandbox)).rejects.toThrow('fetch failed');
  });

  test('delays every response by the configured latency', async () => {
    await using sandbox = await startPlatform({ ...small, latencyMs: 120 });
    const startedAt = performance.now();

    await search(sandbox);

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(118);
  });

  test('changes records by itself at the configured rate of churn', async () => {
    await using sandbox = await startPlatform({ ...small, churn: 200 });

    await sleep(500);

    const steps = Object.values(sandbox.counts().churn).reduce((sum, count) => sum + count, 0);
    expect(steps).toBeGreaterThan(40);
    expect(steps).toBeLessThan(200);
  });

  test('compresses responses for clients that accept it, if so configured', async () => {
    await using sandbox = await startPlatform({ ...small, gzip: true });
    await using plain = await startPlatform({ ...small });

    const [compressed, usual] = await Promise.all([search(sandbox), search(plain)]);

    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(usual.headers.get('content-encoding')).toBeNull();
    expect(await compressed.text()).toBe(await usual.text());
  });

  test('refuses a body that is too large without reading it to the end', async () => {
    await using sandbox = await startPlatform({ ...small, maxBodyBytes: 1000 });

    const { status } = await search(sandbox, { body: 'x'.repeat(5_000_000) });

    expect(status).toBe(413);
  });

  test('survives a header that is not ASCII', async () => {
    await using sandbox = await startPlatform({ ...small });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(`${sandbox.url}/api/x%E0%A4%A`, { headers: { [sandbox.tokenHeader]: 'é' } });
      outgoing.on('response', (response) => resolve(response.resume().statusCode));
      outgoing.on('error', reject);
      outgoing.end();
    });

    expect(status).toBe(401);
  });
});

describe('wrong options', () => {
  test.each<[string, object, string]>([
    ['a rate of 0', { rate: 0 }, 'rate: expected a number above 0, got 0'],
    ['faults above 1', { faults: 1.5 }, 'faults: expected a number from 0 to 1, got 1.5'],
    ['an unknown fault', { faultKinds: ['flood'] }, 'faultKinds.0: expected error-platform,'],
    ['no kinds of faults', { faultKinds: [] }, 'faultKinds: expected at least one kind, got a list of 0'],
    [
      'half a calculation',
      { calculations: 0.5 },
      'calculations: expected a whole number from 0 to 10000000, got 0.5',
    ],
    ['negative latency', { latencyMs: -1 }, 'latencyMs: expected a whole number from 0 to 600000, got -1'],
    [
      'no time for functions',
      { functionTimeLimitMs: 0 },
      'functionTimeLimitMs: expected a whole number from 1 to 300000, got 0',
    ],
    [
      'no memory for functions',
      { functionMemoryBytes: 1 },
      'functionMemoryBytes: expected a whole number from 16777216 to 2147483648, got 1',
    ],
    ['an invalid port', { port: 70_000 }, 'port: expected a whole number from 0 to 65535, got 70000'],
    ['an invalid clock', { now: 5 }, 'now: expected a function, got 5'],
    [
      'an unknown form of Retry-After',
      { retryAfter: 'soon' },
      'retryAfter: expected seconds, date, absent or mixed, got "soon"',
    ],
    ['negative churn', { churn: -1 }, 'churn: expected a number from 0 to 10000, got -1'],
    ['an unknown option', { latency: 5 }, 'latency: not a known name'],
  ])('(%s) are refused with a message that says what was expected and got', async (_, options, message) => {
    await expect(startPlatform(options as PlatformOptions)).rejects.toThrow(message);
  });

  test('are reported together', async () => {
    await expect(startPlatform({ rate: -1, faults: 2 })).rejects.toThrow(/rate: .*; faults: /);
  });
});
