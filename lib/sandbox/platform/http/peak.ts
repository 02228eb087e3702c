/** Finds the most events within any window of `windowMs`, on a monotonic clock. */
export function createPeak(windowMs: number): {
  /** Counts an event; returns how many there have been, including this one. */
  add(atMs: number): number;
  total(): number;
  peak(): number;
} {
  const recent: number[] = [];
  let total = 0;
  let peak = 0;
  return {
    add(atMs) {
      while (recent[0] !== undefined && recent[0] <= atMs - windowMs) recent.shift();
      recent.push(atMs);
      peak = Math.max(peak, recent.length);
      total += 1;
      return total;
    },
    total: () => total,
    peak: () => peak,
  };
}
