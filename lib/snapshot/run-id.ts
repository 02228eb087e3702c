export type Run = {
  /** The run's name, which sorts by its start: `20261121T091500Z-3fa9c1`. */
  readonly id: string;
  /** When it started, ISO 8601 with milliseconds, UTC. */
  readonly startedAt: string;
};

/** Names a run by its start (epoch milliseconds) and 24 random bits. `random` returns numbers from 0 up to 1. */
export function createRun(nowMs: number, random: () => number): Run {
  const startedAt = new Date(nowMs).toISOString();
  const start = `${startedAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const suffix = Math.floor(random() * 0x1000000)
    .toString(16)
    .padStart(6, '0');
  return { id: `${start}-${suffix}`, startedAt };
}

/** A run by its name, with its start to the second. */
export function runOfId(id: string): Run {
  const start = id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-.*$/, '$1-$2-$3T$4:$5:$6.000Z');
  return { id, startedAt: start };
}
