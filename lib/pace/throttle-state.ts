/*
 * What a line knows of the platform's limit. `docs/decisions` draws the states:
 *
 *   free ──429──▶ refused ──a call succeeds──▶ learned ──429──▶ refused
 *
 * While refused, calls leave one at a time, as probes. Learned, the line continues a little below the limit, comes near
 * the last known one fast, and goes beyond it in steps that double. Times in epoch milliseconds, rates in requests a second.
 */
export type ThrottleState = Refused | Learned;

/** When, and how many slots had been granted by then. */
type Mark = { readonly atMs: number; readonly granted: number };

type Learned = {
  readonly kind: 'learned';
  /** What the line continued at. */
  readonly rate: number;
  /** The platform refuses more, as far as is known. */
  readonly limit: number;
  readonly at: Mark;
  /** How long one of the first steps beyond the limit lasts. */
  readonly stepMs: number;
  /** Since when the slots were in use without a break: what was granted since measures the limit. */
  readonly from: Mark;
};

type Refused = {
  readonly kind: 'refused';
  /** The rate that was refused first. */
  readonly rate: number;
  /** Absent: nothing was known of a limit. */
  readonly from?: Mark | undefined;
  /** Slots that had been used when the first call was refused. */
  readonly granted: number;
  /** 429s in a row. */
  readonly refusals: number;
  readonly firstAtMs: number;
  readonly refusedAtMs: number;
  /** Until then the platform is closed, as far as it says. */
  readonly closedUntilMs: number;
  /** When the next probe may leave, and the slot of the last one. */
  readonly nextMs: number;
  readonly probedAtMs?: number | undefined;
};

/** A line at a moment: what it may use at most, and how many slots it has granted. */
export type LineFacts = { readonly cap: number; readonly nowMs: number; readonly granted: number };

/** Nothing is learned below this share of the cap. */
const MIN_SHARE = 0.02;

/** Where between what certainly passed and what was refused the line continues, and how near the limit it comes. */
const BETWEEN = 0.5;
const BELOW = 0.98;
const NEAR = 0.99;

/** Windows are shorter than this: a platform that refused for longer was away. */
const MAX_CLOSED_MS = 90_000;

/** After a first 429 or a long one, which may have been an outage, and at most after any other. */
const AFTER_FIRST = 0.95;
const MAX_AFTER = 0.97;

/** With fewer calls since the line was measured, a 429 lowers the rate to half of it at most. */
const MEASURED_CALLS = 10;

/** Beyond the limit the first step is this share of the rate; each doubles the one before. */
const STEP = 0.01;

/** While little is known a step is short. Near a known limit the first ones last so many calls: a 429 is a small share. */
const MIN_STEP_MS = 30_000;
const MAX_STEP_MS = 300_000;
const STEP_CALLS = 120;
const LONG_STEPS = 2;

/** A limit that is this near to what was refused is known. */
const KNOWN = 0.9;

/** Who has used the whole cap for so long knows of no limit. */
const FORGOTTEN_MS = 1_800_000;

/** A line at rest for so long: what it grants from then on says more of the limit than all since the last 429. */
const REST_MS = 2_000;

/** How long a 429 without `Retry-After` stops calls; doubles with each that follows. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** The same where a `Retry-After` has passed and a probe is refused even so. */
const MAX_PAST_PAUSE_MS = 5_000;

/** A pause of up to a minute is obeyed to its end. In a longer one a probe leaves every half minute. */
const OBEYED_MS = 60_000;

/** How long a 429 stops all calls if nothing more is heard, in milliseconds: its `Retry-After`, at most 15 minutes. */
export const pauseAfter429 = (retryAfterMs = 0): number =>
  Math.max(MIN_PAUSE_MS, Math.min(retryAfterMs, 900_000));

export const isProbing = (state: ThrottleState | undefined): state is Refused => state?.kind === 'refused';

/** The latest time in it, without the pauses that a 429 may ask for. */
export const latestMs = (state: ThrottleState): number =>
  isProbing(state) ? Math.max(state.refusedAtMs, state.nextMs - OBEYED_MS) : state.at.atMs;

/** Begins at a rate that may rise. */
export const learnedAt = (rate: number, { nowMs: atMs, granted }: LineFacts): ThrottleState => {
  const at = { atMs, granted };
  return { kind: 'learned', rate, limit: rate, at, stepMs: MIN_STEP_MS, from: at };
};

/** Requests a second that the line may grant. Time counts in which at least half of the rate was used. */
export function rateOf(state: ThrottleState | undefined, { cap, nowMs, granted }: LineFacts): number {
  if (state === undefined) return cap;
  if (isProbing(state)) return Math.min(cap, state.rate);
  const { rate, limit, at, stepMs } = state;
  const usedMs = Math.max(0, Math.min(nowMs - at.atMs, (2_000 * (granted - at.granted)) / rate));
  const longMs = LONG_STEPS * stepMs;
  const doublings = 2 ** (Math.min(usedMs, longMs) / stepMs + Math.max(0, usedMs - longMs) / MIN_STEP_MS);
  const toLimit = Math.max(0, limit * NEAR - rate) * (1 - 1 / doublings);
  return Math.min(cap, rate + toLimit + rate * STEP * (doublings - 1));
}

/** Whether a limit below the cap is known, and in use: a 429 is most likely its. */
export function isAtLimit(state: ThrottleState | undefined, line: LineFacts): boolean {
  if (state === undefined || isProbing(state) || state.limit >= line.cap * MAX_AFTER) return false;
  return rateOf(state, line) >= state.limit * AFTER_FIRST;
}

/** After a 429. `granted` leaves out slots that nobody has used yet. */
export function refused(
  state: ThrottleState | undefined,
  { retryAfterMs, ...line }: LineFacts & { readonly retryAfterMs: number | undefined },
): ThrottleState {
  const { nowMs, granted } = line;
  const again = isProbing(state) ? state : undefined;
  const refusals = (again?.refusals ?? 0) + 1;
  return {
    kind: 'refused',
    rate: again?.rate ?? rateOf(state, line),
    from: again === undefined ? knownSince(state, line) : again.from,
    granted: again?.granted ?? granted,
    refusals,
    firstAtMs: again?.firstAtMs ?? nowMs,
    refusedAtMs: nowMs,
    // Whole seconds, rounded up: it may open sooner by one.
    closedUntilMs: nowMs + Math.max(0, Math.min(retryAfterMs ?? 0, 900_000) - 1_000),
    nextMs: nowMs + pauseMs(refusals, retryAfterMs),
  };
}

function knownSince(state: ThrottleState | undefined, line: LineFacts): Mark | undefined {
  if (state === undefined || isProbing(state)) return undefined;
  const isForgotten = line.nowMs - state.at.atMs > FORGOTTEN_MS && rateOf(state, line) >= line.cap;
  return isForgotten ? undefined : state.from;
}

function pauseMs(refusals: number, retryAfterMs: number | undefined): number {
  const doubled = MIN_PAUSE_MS * 2 ** (refusals - 1);
  if (retryAfterMs === undefined) return Math.min(MAX_PAUSE_MS, doubled);
  const requestedMs = Math.max(retryAfterMs, Math.min(MAX_PAST_PAUSE_MS, doubled / 2), MIN_PAUSE_MS);
  return requestedMs <= OBEYED_MS ? requestedMs : MAX_PAUSE_MS;
}

/** A probe leaves in this slot; the next may follow after `gapMs` if nothing is heard of it. */
export const probed = (state: Refused, slotMs: number, gapMs: number): ThrottleState => ({
  ...state,
  probedAtMs: slotMs,
  nextMs: slotMs + gapMs,
});

/**
 * After a success. The limit lies between what went through until the platform was seen to be open again, and what the
 * rate comes to if it was closed only for as long as it was seen to be.
 */
export function reopened(state: Refused, { cap, nowMs, granted }: LineFacts): ThrottleState {
  const { rate, from, firstAtMs, closedUntilMs } = state;
  const at = { atMs: state.probedAtMs ?? nowMs, granted: granted - 1 };
  const since = from ?? at;
  const usedMs = Math.max(1, firstAtMs - since.atMs);
  const closedMs = Math.max(0, Math.min(at.atMs, closedUntilMs) - firstAtMs);
  const low = (1_000 * Math.max(0, state.granted - since.granted)) / Math.max(1, at.atMs - since.atMs);
  const high = (rate * usedMs) / (usedMs + closedMs);
  const between = Math.min(rate * MAX_AFTER, BELOW * (low + BETWEEN * (high - low)));
  const isOutage = from === undefined || closedMs > MAX_CLOSED_MS;
  // A few calls after a rest say little of the limit.
  const least = state.granted - since.granted < MEASURED_CALLS ? rate / 2 : cap * MIN_SHARE;
  const next = Math.max(cap * MIN_SHARE, isOutage ? rate * AFTER_FIRST : Math.max(least, between));
  const callsMs = Math.min(MAX_STEP_MS, Math.max(MIN_STEP_MS, (STEP_CALLS * 1_000) / next));
  return {
    kind: 'learned',
    rate: Math.min(cap, next),
    limit: isOutage ? rate : Math.max(next, high),
    at,
    stepMs: !isOutage && next >= rate * KNOWN ? callsMs : MIN_STEP_MS,
    from: at,
  };
}

/** Before slots are granted: a line that had rested since `tatMs` is measured from now on. */
export function rested(
  state: ThrottleState | undefined,
  tatMs: number,
  { nowMs, granted }: LineFacts,
): ThrottleState | undefined {
  if (state === undefined || isProbing(state) || nowMs - tatMs < REST_MS) return state;
  return { ...state, from: { atMs: nowMs, granted } };
}
