import { inspect } from 'node:util';

/** Everything about a value that could be printed: its text, its JSON, the output of inspect, and its bytes. */
export function everythingOf(value: unknown): string {
  const words = value instanceof Error ? `${value.message}\n${value.stack}` : String(value);
  const shown = inspect(value, { depth: Infinity, showHidden: true, getters: true, maxStringLength: null });
  return [words, JSON.stringify(value), shown, ...partsOf(value, new Set())].join('\n');
}

function partsOf(value: unknown, seen: Set<unknown>): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('latin1')];
  return Reflect.ownKeys(value).flatMap((key) => [
    String(key),
    ...partsOf(Reflect.getOwnPropertyDescriptor(value, key)?.value, seen),
  ]);
}
