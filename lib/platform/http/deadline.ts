/** A limit of time that can be suspended. */
export type Deadline = {
  /** Aborted once the time is over. */
  readonly signal: AbortSignal;
  /** Waits for something that does not count: the time goes on afterwards. */
  readonly without: (waiting: Promise<void>) => Promise<void>;
  readonly clear: () => void;
};

/** Starts at once. */
export function createDeadline(limitMs: number): Deadline {
  const timeout = new AbortController();
  let leftMs = limitMs;
  let startedMs = 0;
  let timer: NodeJS.Timeout | undefined;
  function start(): void {
    startedMs = performance.now();
    timer = setTimeout(() => timeout.abort(), Math.max(0, leftMs));
  }
  start();
  return {
    signal: timeout.signal,
    async without(waiting) {
      clearTimeout(timer);
      leftMs -= performance.now() - startedMs;
      try {
        await waiting;
      } finally {
        start();
      }
    },
    clear: () => clearTimeout(timer),
  };
}
