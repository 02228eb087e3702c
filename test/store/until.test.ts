import { expect, test } from 'vitest';
import type { Store } from '../../lib/store/store.ts';
import { storeUntil } from '../../lib/store/update-object.ts';

function recording() {
  const signals: (AbortSignal | undefined)[] = [];
  const record = (...args: readonly unknown[]) => {
    signals.push((args.at(-1) as { readonly signal?: AbortSignal }).signal);
  };
  const methods = [
    'get',
    'stream',
    'put',
    'putStream',
    'copy',
    'list',
    'folders',
    'delete',
    'oldVersions',
    'tagAll',
  ];
  const store = Object.fromEntries(methods.map((name) => [name, record]));
  return { store: { location: 'here', ...store } as unknown as Store, signals, methods };
}

const tag = { name: 'n', value: 'v' };

test('every wait of the store ends with the signal of the caller, and with that of the call', () => {
  const { store, signals, methods } = recording();
  const until = new AbortController();
  const own = new AbortController();
  const wrapped = storeUntil(store, until.signal);

  void wrapped.get('a');
  void wrapped.stream('a');
  void wrapped.put('a', Buffer.of());
  void wrapped.putStream('a', (async function* () {})());
  void wrapped.copy('a', 'b');
  void wrapped.list('a');
  void wrapped.folders('a');
  void wrapped.delete('a');
  void wrapped.oldVersions?.('a');
  void wrapped.tagAll?.('a', tag);
  void wrapped.get('a', { signal: own.signal });

  expect(wrapped.location).toBe('here');
  expect(Object.keys(wrapped).sort()).toEqual(['location', ...methods].sort());
  expect(signals.slice(0, -1)).toEqual(methods.map(() => until.signal));
  own.abort(new Error('own'));
  expect(signals.at(-1)?.aborted).toBe(true);
  expect(until.signal.aborted).toBe(false);
});

test('a method that a store lacks is also missing in the wrapped store', () => {
  const { store } = recording();
  const { oldVersions: _versions, tagAll: _tags, ...plain } = store;

  expect(Object.keys(storeUntil(plain, new AbortController().signal))).not.toContain('tagAll');
});
