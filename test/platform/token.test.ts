import { describe, expect, test } from 'vitest';
import { fixedToken, secretToken } from '../../lib/platform/token.ts';
import { thrown } from './caught.ts';

test('a fixed token is always the same, even after a refusal', async () => {
  const token = fixedToken('abc');

  expect(await token.read()).toBe('abc');
  expect(token.refused('abc')).toBe(false);
  expect(await token.read()).toBe('abc');
});

describe('a token from a secret store', () => {
  /** A store whose secret is `token 1`, then `token 2`, and a clock that the test advances. */
  function createStore() {
    const store = { fetches: 0, nowMs: 0, failures: 0 };
    const token = secretToken({
      now: () => store.nowMs,
      async fetchSecret() {
        store.fetches += 1;
        if (store.fetches <= store.failures) throw new Error(`failure ${store.fetches}`);
        return ` token ${store.fetches}\n`;
      },
    });
    return { store, token };
  }

  test('is read once and cached for 5 minutes', async () => {
    const { store, token } = createStore();

    const first = await token.read();
    store.nowMs = 299_999;
    const cached = await token.read();
    store.nowMs = 300_000;
    const renewed = await token.read();

    expect([first, cached, renewed]).toEqual(['token 1', 'token 1', 'token 2']);
    expect(store.fetches).toBe(2);
  });

  test('is fetched once for concurrent readers', async () => {
    const { store, token } = createStore();

    const read = await Promise.all([token.read(), token.read(), token.read()]);

    expect(read).toEqual(['token 1', 'token 1', 'token 1']);
    expect(store.fetches).toBe(1);
  });

  test('is read again only once for all calls that were refused with it', async () => {
    const { store, token } = createStore();

    await token.read();
    token.refused('token 1');
    await token.read();
    token.refused('token 1');
    const cached = await token.read();

    expect(cached).toBe('token 2');
    expect(store.fetches).toBe(2);
  });

  test('is not cached if the fetch failed, and every reader gets the error', async () => {
    const { store, token } = createStore();
    store.failures = 1;

    const failures = await Promise.all([thrown(token.read()), thrown(token.read())]);
    const read = await token.read();

    expect(failures).toEqual([new Error('failure 1'), new Error('failure 1')]);
    expect(read).toBe('token 2');
  });

  test('stays cached if an older fetch fails later', async () => {
    const fetches = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    let [count, nowMs] = [0, 0];
    const token = secretToken({
      now: () => nowMs,
      fetchSecret: () => {
        count += 1;
        return (count === 1 ? fetches[0] : fetches[1]).promise;
      },
    });

    const older = thrown(token.read());
    nowMs = 300_000;
    const newer = token.read();
    fetches[0].reject(new Error('late'));
    await older;
    fetches[1].resolve('new');

    expect(await newer).toBe('new');
    expect(await token.read()).toBe('new');
    expect(count).toBe(2);
  });
});
