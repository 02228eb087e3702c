import { randomFor } from '../../../lib/sandbox/platform/records/random.ts';

/** What can go wrong with each service, for a spell. */
const spells = {
  dynamodb: ['lost', 'late', 'refused', 'throttled'],
  s3: ['lost', 'late', 'refused', 'throttled'],
  sqs: ['lost', 'late', 'refused', 'throttled'],
  platform: ['lost', 'late', 'refused', 'unauthorized', 'too-many', 'error', 'silent'],
} as const;

export type ServiceName = keyof typeof spells;
export type SpellKind = (typeof spells)[ServiceName][number];

export type StormEvent = { readonly atMs: number } & (
  | { readonly kind: 'kill'; readonly worker: number }
  /** Stopped for longer than the lease. */
  | { readonly kind: 'stop'; readonly worker: number; readonly forMs: number }
  /** Messages that were sent before are sent again. */
  | { readonly kind: 'duplicates'; readonly messages: number }
  | {
      readonly kind: 'spell';
      readonly service: ServiceName;
      readonly spell: SpellKind;
      readonly forMs: number;
      /** The share of requests that fail; refused connections affect all. */
      readonly share: number;
    }
);

export type StormPlan = {
  readonly seed: number;
  /** The last fault ends by then. */
  readonly seconds: number;
  readonly workers: number;
  readonly leaseMs: number;
  readonly events: readonly StormEvent[];
};

/** Each round has every fault once, in an order and at times of its own. */
const ROUND_SECONDS = 8;

const LEASE_MS = 2_500;

export type StormSize = {
  readonly seconds: number;
  readonly workers: number;
  /** Those that have spells. */
  readonly services: readonly ServiceName[];
};

export const allServices = Object.keys(spells) as readonly ServiceName[];

/** A storm of this number of seconds. The same seed yields the same plan. */
export function planStorm(seed: number, size: StormSize): StormPlan {
  const { seconds, workers } = size;
  const rounds = Math.max(1, Math.round(seconds / ROUND_SECONDS));
  const roundMs = (seconds * 1_000) / rounds;
  const events = Array.from({ length: rounds }, (_, round) =>
    planRound(seed, { ...size, round, roundMs }),
  ).flat();
  return { seed, seconds, workers, leaseMs: LEASE_MS, events: events.toSorted((a, b) => a.atMs - b.atMs) };
}

function planRound(
  seed: number,
  { round, roundMs, workers, services }: StormSize & { readonly round: number; readonly roundMs: number },
): readonly StormEvent[] {
  const random = randomFor(seed, 'storm', round);
  const spellMs = () => 500 + random.below(1_000);
  const atMs = (lastsMs: number) => round * roundMs + random.below(Math.max(1, roundMs - lastsMs));
  const ofServices = services.flatMap((service) =>
    spells[service].map((spell): StormEvent => {
      const forMs = spellMs();
      const share = 0.4 + random.next() * 0.6;
      return { kind: 'spell', atMs: atMs(forMs), service, spell, forMs, share };
    }),
  );
  const stopMs = LEASE_MS + 700 + random.below(800);
  return [
    ...ofServices,
    { kind: 'kill', atMs: atMs(0), worker: random.below(workers) },
    { kind: 'kill', atMs: atMs(0), worker: random.below(workers) },
    { kind: 'stop', atMs: atMs(stopMs), worker: random.below(workers), forMs: stopMs },
    { kind: 'duplicates', atMs: atMs(0), messages: 10 },
    { kind: 'duplicates', atMs: atMs(0), messages: 10 },
  ];
}
