/** What a stop waits for, or what an end at once would lose. */
export type Awaited = {
  /** What is waited for, one and several of it: `['# paid response', '# paid responses']`. Absent: nothing is. */
  readonly nouns?: readonly [string, string];
  /** When it has ended at the latest, in milliseconds of the list's clock. */
  readonly untilMs?: number;
  /** What happens to one and to several if the process ends at once, in words that follow a colon. */
  readonly lost: readonly [string, string];
};

export type Awaits = {
  /** From now until the end of the block that holds it (`using`). */
  readonly hold: (awaited: Awaited) => Disposable;
  /** `2 paid responses, at most 50 s`; undefined if nothing is waited for. */
  readonly waitedFor: () => string | undefined;
  /** What an end at once loses, each once; undefined if that is nothing. */
  readonly lost: () => string | undefined;
};

/** Remembers what is waited for in this process. `now` in milliseconds. */
export function createAwaits(now: () => number): Awaits {
  const held = new Set<Awaited>();
  return {
    hold(awaited) {
      // One of its own, even if the same is held twice.
      const one = { ...awaited };
      held.add(one);
      return { [Symbol.dispose]: () => void held.delete(one) };
    },
    waitedFor() {
      const counted = counts([...held].flatMap(({ nouns }) => (nouns === undefined ? [] : [nouns])));
      if (counted.length === 0) return undefined;
      const untilMs = [...held].flatMap((each) => each.untilMs ?? []);
      const seconds = Math.max(1, Math.ceil((Math.max(...untilMs) - now()) / 1_000));
      return `${counted.join(' and ')}${untilMs.length === 0 ? '' : `, at most ${seconds} s`}`;
    },
    lost() {
      const all = counts([...held].map(({ lost }) => lost));
      return all.length === 0 ? undefined : all.join('; ');
    },
  };
}

/** For each kind of what is held, in the order in which it was: its words with the number in the place of `#`. */
function counts(words: readonly (readonly [string, string])[]): readonly string[] {
  const kinds = Map.groupBy(words, ([one]) => one);
  return [...kinds.values()].flatMap((same) => {
    const [one, several] = same[0] ?? ['', ''];
    return [(same.length === 1 ? one : several).replace('#', String(same.length))];
  });
}
