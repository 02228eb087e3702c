/** Reads the page at an offset. `signal` is aborted when nobody is waiting for it anymore. */
export type ReadAt<Page> = (offset: number, signal: AbortSignal) => Promise<Page>;

/** Pages that are fetched before they are needed, by offset. */
export type PagesAhead<Page> = {
  /** The page at an offset: the one already under way, or a new one. */
  readonly take: (offset: number) => Promise<Page>;
  /** Fetches these pages and aborts all others: the rows planned for before may be elsewhere now. */
  readonly plan: (offsets: readonly number[]) => void;
  /** Aborts all pages under way. */
  readonly stop: () => void;
};

/**
 * Overlaps the platform's time with ours. Fetching a page early does no harm: its seam is proved by its contents, not
 * by when it was read.
 */
export function createPagesAhead<Page>(
  read: ReadAt<Page>,
  signal: AbortSignal | undefined,
): PagesAhead<Page> {
  const ahead = new Map<number, { readonly page: Promise<Page>; readonly left: AbortController }>();
  const start = (offset: number) => {
    const left = new AbortController();
    const page = read(offset, signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]));
    // The error is thrown when the page is taken; nobody needs that of an aborted page.
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
