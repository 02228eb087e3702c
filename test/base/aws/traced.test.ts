import { afterEach, expect, test } from 'vitest';
import { currentIds, traced, withIds } from '../../../lib/base/aws/traced.ts';

const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Registers a tracing provider. Returns the spans that ended, each with its events. */
function register(): readonly object[] {
  const ended: object[] = [];
  const tracer = {
    startActiveSpan(
      name: string,
      { attributes }: { readonly attributes: object },
      act: (span: object) => unknown,
    ) {
      const happened: unknown[] = [];
      return act({
        recordException: (error: unknown) => happened.push(String(error)),
        setStatus: (status: unknown) => happened.push(status),
        end: () => ended.push({ name, attributes, happened }),
      });
    },
  };
  Reflect.set(globalThis, REGISTERED, { version: '1.9.0', trace: { getTracer: () => tracer } });
  return ended;
}

afterEach(() => void Reflect.deleteProperty(globalThis, REGISTERED));

test('a line logged during nested work has the ids of all of it; a later line has none', async () => {
  const seen = await withIds({ request: 'r' }, () =>
    traced('job', { job: 'a', batch: undefined }, async () => {
      await Promise.resolve();
      return currentIds();
    }),
  );

  expect(seen).toEqual({ request: 'r', job: 'a' });
  expect(currentIds()).toEqual({});
});

test('concurrent pieces of work have separate ids', async () => {
  const ids = await Promise.all(
    ['a', 'b'].map((job) => traced('job', { job }, async () => Promise.resolve().then(currentIds))),
  );

  expect(ids).toEqual([{ job: 'a' }, { job: 'b' }]);
});

test('with an OpenTelemetry provider, each piece of work is a span whose attributes are the ids', async () => {
  const ended = register();

  await traced('job', { job: 'a', batch: undefined }, () =>
    traced('call', { operation: 'runFunction' }, async () => 'done'),
  );

  expect(ended).toEqual([
    {
      name: 'platform-sync call',
      attributes: { 'platform_sync.job': 'a', 'platform_sync.operation': 'runFunction' },
      happened: [],
    },
    { name: 'platform-sync job', attributes: { 'platform_sync.job': 'a' }, happened: [] },
  ]);
});

test('the span of failed work records the failure, and the error is rethrown', async () => {
  const ended = register();

  await expect(
    traced('job', {}, async () => {
      throw new RangeError('too far');
    }),
  ).rejects.toThrow('too far');

  expect(ended).toMatchObject([{ happened: ['RangeError: too far', { code: 2 }] }]);
});
