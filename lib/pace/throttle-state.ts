/*
 * What a line has learned about the platform's limit. Its states:
 *
 * free ──429──▶ refused ──a call succeeds──▶ learned ──429──▶ refused
 *
 * In the state `refused`, calls leave one at a time, as probes. In the state `learned`, the line continues a
 * little below the limit, quickly approaches the last known limit, and exceeds it in steps that double. Times
 * are in epoch milliseconds, rates in requests a second.
 */
type ThrottleState =
  | Refused
  | {
      readonly kind: 'learned';
      /** The rate at which the line continued after the refusal. */
      readonly rate: number;
      /** The highest rate that the platform is known to accept. */
      readonly limit: number;
      /** When this rate and this limit were learned. */
      readonly at: Mark;
      /** The duration of the first steps beyond the limit, in milliseconds. */
      readonly stepMs: number;
      /** Start of the present stretch of continuous use. The slots granted since then measure the limit. */
      readonly busySince: Mark;
    };

/** A time, and the number of slots granted by then. */
type Mark = { readonly atMs: number; readonly granted: number };

type Refused = {
  readonly kind: 'refused';
  /** The rate at which the first call was refused. */
  readonly rate: number;
  /** `busySince` of the previous state, if that was `learned`. Absent: no limit was known. */
  readonly busySince?: Mark | undefined;
  /** The number of slots that had been used when the first call was refused. */
  readonly granted: number;
  /** The number of 429s in a row. */
  readonly refusals: number;
  readonly firstAtMs: number;
  readonly refusedAtMs: number;
  /** The end of the time in which the platform refuses calls, according to its `Retry-After`. */
  readonly closedUntilMs: number;
  /** When the next probe may leave. */
  readonly nextMs: number;
  /** When the previous probe was sent. */
  readonly probedAtMs?: number | undefined;
};

/** The line at one moment: its maximum rate, and how many slots it has granted. */
type LineFacts = { readonly cap: number; readonly nowMs: number; readonly granted: number };

/** The lowest rate that can be learned, as a share of the cap (the line's maximum rate). */
const MIN_SHARE = 0.02;

/**
 * The line continues a little below the middle between the lowest and the highest possible limit (see `reopened`). It
 * then approaches the limit to within 1 %.
 */
const MIDDLE = 0.5;
const BELOW_MIDDLE = 0.98;
const SHARE_OF_LIMIT = 0.99;

/** If calls were refused for longer than this, in milliseconds, the cause is taken to be an outage, not a rate limit. */
const MAX_CLOSED_MS = 90_000;

/**
 * After a first 429, or after a long time of refusals, which may have been an outage, the line continues at this share
 * of the refused rate. After any other 429, it continues at `MAX_AFTER` of that rate or less.
 */
const AFTER_FIRST = 0.95;
const MAX_AFTER = 0.97;

/**
 * If fewer calls than this were made since the measurement began, a 429 lowers the rate by at most half, and the limit
 * stays unknown.
 */
const MIN_MEASURED_CALLS = 10;

/** The first step beyond the limit is this share of the rate. Each further step is twice as large. */
const STEP = 0.01;

/**
 * While little is known, a step is short. Near a known limit, each of the first `LONG_STEPS` steps lasts `STEP_CALLS`
 * calls, so that only a small share of the calls gets a 429.
 */
const MIN_STEP_MS = 30_000;
const MAX_STEP_MS = 300_000;
const STEP_CALLS = 120;
const LONG_STEPS = 2;

/** A limit counts as known if it was measured, and is at least this share of the refused rate. */
const MIN_KNOWN_SHARE = 0.9;

/** A learned limit is discarded after this long at the full cap, in milliseconds. */
const FORGOTTEN_MS = 1_800_000;

/** If no slot was used for this long, in milliseconds, the limit is measured anew. */
const IDLE_MS = 2_000;

/** How long a 429 without `Retry-After` stops calls, in milliseconds. The time doubles with each further 429. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** The maximum pause after a probe that was refused even though the last `Retry-After` had passed, in milliseconds. */
const MAX_PAST_PAUSE_MS = 5_000;

/**
 * If the platform asks for a pause of up to this length, in milliseconds, no call is sent in it. During a longer
 * pause, a probe is sent every half minute.
 */
const OBEYED_MS = 60_000;

/**
 * How long a 429 stops all calls unless another response arrives, in milliseconds: its `Retry-After`, but at most 15
 * minutes.
 */
export const pauseAfter429 = (retryAfterMs = 0): number =>
  Math.max(MIN_PAUSE_MS, Math.min(retryAfterMs, 900_000));

/** Whether calls leave one at a time as probes, since the platform refuses them. */
export const isProbing = (state: ThrottleState | undefined): state is Refused => state?.kind === 'refused';

/** The latest time in the state, in epoch milliseconds. The end of the pause after a 429 does not count. */
export const latestMs = (state: ThrottleState): number =>
  isProbing(state) ? Math.max(state.refusedAtMs, state.nextMs - OBEYED_MS) : state.at.atMs;

/** The state of a line that starts at `rate` and may rise. */
export const learnedAt = (rate: number, { nowMs: atMs, granted }: LineFacts): ThrottleState => {
  const at = { atMs, granted };
  return { kind: 'learned', rate, limit: rate, at, stepMs: MIN_STEP_MS, busySince: at };
};

/**
 * The rate that the line may grant, in requests a second. It rises only during time in which at least half of the rate
 * was used.
 */
export function rateOf(state: ThrottleState | undefined, { cap, nowMs, granted }: LineFacts): number {
  if (state === undefined) return cap;
  if (isProbing(state)) return Math.min(cap, state.rate);
  const { rate, limit, at, stepMs } = state;
  const usedMs = Math.max(0, Math.min(nowMs - at.atMs, (2_000 * (granted - at.granted)) / rate));
  const longMs = LONG_STEPS * stepMs;
  const doublings = 2 ** (Math.min(usedMs, longMs) / stepMs + Math.max(0, usedMs - longMs) / MIN_STEP_MS);
  const toLimit = Math.max(0, limit * SHARE_OF_LIMIT - rate) * (1 - 1 / doublings);
  return Math.min(cap, rate + toLimit + rate * STEP * (doublings - 1));
}

/** Whether a limit below the cap is known and reached, so that it most likely is the cause of a 429. */
export function isAtLimit(state: ThrottleState | undefined, line: LineFacts): boolean {
  if (state === undefined || isProbing(state) || state.limit >= line.cap * MAX_AFTER) return false;
  return rateOf(state, line) >= state.limit * AFTER_FIRST;
}

/** The state after a 429. `granted` must not count slots that have not been used yet. */
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
    busySince: again === undefined ? knownSince(state, line) : again.busySince,
    granted: again?.granted ?? granted,
    refusals,
    firstAtMs: again?.firstAtMs ?? nowMs,
    refusedAtMs: nowMs,
    // `Retry-After` is in whole seconds, rounded up: the platform may accept calls one second sooner.
    closedUntilMs: nowMs + Math.max(0, Math.min(retryAfterMs ?? 0, 900_000) - 1_000),
    nextMs: nowMs + pauseMs(refusals, retryAfterMs),
  };
}

function knownSince(state: ThrottleState | undefined, line: LineFacts): Mark | undefined {
  if (state === undefined || isProbing(state)) return undefined;
  const isForgotten = line.nowMs - state.at.atMs > FORGOTTEN_MS && rateOf(state, line) >= line.cap;
  return isForgotten ? undefined : state.busySince;
}

function pauseMs(refusals: number, retryAfterMs: number | undefined): number {
  const doubled = MIN_PAUSE_MS * 2 ** (refusals - 1);
  if (retryAfterMs === undefined) return Math.min(MAX_PAUSE_MS, doubled);
  const requestedMs = Math.max(retryAfterMs, Math.min(MAX_PAST_PAUSE_MS, doubled / 2), MIN_PAUSE_MS);
  return requestedMs <= OBEYED_MS ? requestedMs : MAX_PAUSE_MS;
}

/**
 * The state after a probe was sent in the slot at `slotMs`. If its outcome stays unknown, the next probe may be sent
 * after `gapMs`.
 */
export const probed = (state: Refused, slotMs: number, gapMs: number): ThrottleState => ({
  ...state,
  probedAtMs: slotMs,
  nextMs: slotMs + gapMs,
});

/**
 * The state after a success. The limit is between two rates, each of which is the calls since the measurement began,
 * divided by the time in use and the time closed. `low` counts all the time until a probe succeeded as closed. `high`
 * counts only the time that `Retry-After` asked for as closed, so it is an upper bound.
 */
export function reopened(state: Refused, { cap, nowMs, granted }: LineFacts): ThrottleState {
  const { rate, busySince, firstAtMs, closedUntilMs } = state;
  const at = { atMs: state.probedAtMs ?? nowMs, granted: granted - 1 };
  const since = busySince ?? at;
  const usedMs = Math.max(1, firstAtMs - since.atMs);
  const closedMs = Math.max(0, Math.min(at.atMs, closedUntilMs) - firstAtMs);
  const low = (1_000 * Math.max(0, state.granted - since.granted)) / Math.max(1, at.atMs - since.atMs);
  const high = (rate * usedMs) / (usedMs + closedMs);
  const between = Math.min(rate * MAX_AFTER, BELOW_MIDDLE * (low + MIDDLE * (high - low)));
  const isOutage = busySince === undefined || closedMs > MAX_CLOSED_MS;
  const isMeasured = state.granted - since.granted >= MIN_MEASURED_CALLS;
  const min = isMeasured ? cap * MIN_SHARE : rate / 2;
  const next = Math.max(cap * MIN_SHARE, isOutage ? rate * AFTER_FIRST : Math.max(min, between));
  const isKnown = isMeasured && !isOutage && next >= rate * MIN_KNOWN_SHARE;
  const callsMs = Math.min(MAX_STEP_MS, Math.max(MIN_STEP_MS, (STEP_CALLS * 1_000) / next));
  return {
    kind: 'learned',
    rate: Math.min(cap, next),
    limit: isOutage ? rate : Math.max(next, high),
    at,
    stepMs: isKnown ? callsMs : MIN_STEP_MS,
    busySince: at,
  };
}

/**
 * The state before slots are granted. `reservedUntilMs`: the end of the last reserved slot. If no slot was used for a
 * while after it, the limit is measured anew.
 */
export function restartIfIdle(
  state: ThrottleState | undefined,
  reservedUntilMs: number,
  { nowMs, granted }: LineFacts,
): ThrottleState | undefined {
  if (state === undefined || isProbing(state) || nowMs - reservedUntilMs < IDLE_MS) return state;
  return { ...state, busySince: { atMs: nowMs, granted } };
}
