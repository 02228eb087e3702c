import { setTimeout as delay } from 'node:timers/promises';
import type { Tool } from './tool.ts';

/** How long the end waits for calls that were stopped. */
const LONGEST_MS = 3_000;

/** The same tools, and what waits for those of their calls that are under way. */
export function watchCalls(tools: Readonly<Record<string, Tool>>) {
  const calls = new Set<Promise<unknown>>();
  const watched = Object.entries(tools).map(([name, tool]): readonly [string, Tool] => [
    name,
    {
      ...tool,
      async call(given, call) {
        const calling = tool.call(given, call);
        calls.add(calling);
        try {
          return await calling;
        } finally {
          calls.delete(calling);
        }
      },
    },
  ]);
  return {
    tools: Object.fromEntries(watched),
    async settled(): Promise<void> {
      const ended = new AbortController();
      const tooLong = delay(LONGEST_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(calls), tooLong]);
      ended.abort();
    },
  };
}
