/** What is being done at the moment: for a line of the log when a process is about to be stopped. */
export type InHand = {
  /** From now until the end of the block that holds it (`using`). `facts` are logged as they are. */
  readonly hold: (facts: Readonly<Record<string, unknown>>) => Disposable;
  /** The facts of all that is held, the oldest first, each with the milliseconds since it began: at most `most`. */
  readonly list: (most: number) => readonly Readonly<Record<string, unknown>>[];
  readonly size: () => number;
};

export function createInHand(now: () => number = Date.now): InHand {
  const held = new Set<{ readonly facts: Readonly<Record<string, unknown>>; readonly sinceMs: number }>();
  return {
    hold(facts) {
      const one = { facts, sinceMs: now() };
      held.add(one);
      return { [Symbol.dispose]: () => void held.delete(one) };
    },
    list: (most) =>
      [...held].slice(0, most).map(({ facts, sinceMs }) => ({ ...facts, forMs: now() - sinceMs })),
    size: () => held.size,
  };
}
