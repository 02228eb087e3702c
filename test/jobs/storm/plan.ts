import { randomFor } from '../../../lib/sandbox/platform/records/random.ts';

/** The faults of each service, each of which lasts for a while. */
const faults = {
  dynamodb: ['lost', 'late', 'refused', 'throttled'],
  s3: ['lost', 'late', 'refused', 'throttled'],
  sqs: ['lost', 'late', 'refused', 'throttled'],
  platform: ['lost', 'late', 'refused', 'unauthorized', 'too-many', 'error', 'silent'],
} as const;

export type ServiceName = keyof typeof faults;
export type FaultKind = (typeof faults)[ServiceName][number];

export type StormEvent = { readonly atMs: number } & (
  | { readonly kind: 'kill'; readonly worker: number }
  /** The worker is stopped for longer than its lease. */
  | { readonly kind: 'stop'; readonly worker: number; readonly forMs: number }
  /** This number of earlier messages is sent again. */
  | { readonly kind: 'duplicates'; readonly messages: number }
  | {
      readonly kind: 'fault';
      readonly service: ServiceName;
      readonly fault: FaultKind;
      readonly forMs: number;
      /** The share of requests that fail. Refused connections affect all requests. */
      readonly share: number;
    }
);

export type StormPlan = {
  readonly seed: number;
  /** By this time the last fault has ended. */
  readonly seconds: number;
  readonly workers: number;
  readonly leaseMs: number;
  readonly events: readonly StormEvent[];
};

/** Each round has every fault once, in random order and at random times. */
const ROUND_SECONDS = 8;

const LEASE_MS = 2_500;

export type StormSize = {
  readonly seconds: number;
  readonly workers: number;
  /** The services that have faults. */
  readonly services: readonly ServiceName[];
};

export const allServices = Object.keys(faults) as readonly ServiceName[];

/** Plans a storm. The same seed yields the same plan. */
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
  const faultMs = () => 500 + random.below(1_000);
  const atMs = (lastsMs: number) => round * roundMs + random.below(Math.max(1, roundMs - lastsMs));
  const ofServices = services.flatMap((service) =>
    faults[service].map((fault): StormEvent => {
      const forMs = faultMs();
      const share = 0.4 + random.next() * 0.6;
      return { kind: 'fault', atMs: atMs(forMs), service, fault, forMs, share };
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
