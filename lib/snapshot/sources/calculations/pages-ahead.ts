/** Reads the page at an offset. `signal` is aborted when nobody waits for it any more. */
export type ReadAt<Page> = (offset: number, signal: AbortSignal) => Promise<Page>;

/** Pages that are fetched before they are asked for, by offset. */
export type PagesAhead<Page> = {
  /** The page at an offset: the one that is under way, or else a new one. */
  readonly take: (offset: number) => Promise<Page>;
  /** Fetches these pages and gives up all others: what was planned before may lie elsewhere now. */
  readonly plan: (offsets: readonly number[]) => void;
  /** Gives up all that is under way. */
  readonly stop: () => void;
};

/**
 * Overlaps the platform's time with ours. That a page was fetched early is no harm: its seam is proved by what it
 * holds, not by when it was read.
 */
export function createPagesAhead<Page>(
  read: ReadAt<Page>,
  signal: AbortSignal | undefined,
): PagesAhead<Page> {
  const ahead = new Map<number, { readonly page: Promise<Page>; readonly left: AbortController }>();
  const start = (offset: number) => {
    const left = new AbortController();
    const page = read(offset, signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]));
    // Thrown when it is taken; a page that is given up has nobody to tell.
    page.catch(() => undefined);
    return { page, left };
  };
  const drop = (offset: number) => {
    ahead.get(offset)?.left.abort();
    ahead.delete(offset);
  };
  return {
    take(offset) {
      const { page } = ahead.get(offset) ?? start(offset);
      ahead.delete(offset);
      return page;
    },
    plan(offsets) {
      for (const offset of [...ahead.keys()]) if (!offsets.includes(offset)) drop(offset);
      for (const offset of offsets) if (!ahead.has(offset)) ahead.set(offset, start(offset));
    },
    stop() {
      for (const offset of [...ahead.keys()]) drop(offset);
    },
  };
}
