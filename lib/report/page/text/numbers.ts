const whole = new Intl.NumberFormat('en');
const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** A whole number: `12,345`. */
export const count = (value: number): string => whole.format(value);

/** A number with its noun: `12,345 cards`, `1 card`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${whole.format(value)} ${value === 1 ? one : many}`;

/** The share of `value` in `of`, as a percentage: `12.3%`; a dash if `of` is 0. */
export const share = (value: number, of: number): string => (of === 0 ? '–' : shares.format(value / of));

/** A size in powers of 1,000: `12.3 MB`. */
export function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = value < 1_000 ? 0 : Math.min(5, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1_000 ** power;
  return `${power > 0 && scaled < 100 ? scaled.toFixed(1) : whole.format(Math.round(scaled))} ${units[power]}`;
}

/** A time: `2026-11-22 21:04 UTC`; a dash if it is invalid. */
export const time = (ms: number | null | undefined): string =>
  isTime(ms) ? `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC` : '–';

/** The day of a time: `2026-11-22`; a dash if the time is invalid. */
export const day = (ms: number | null | undefined): string =>
  isTime(ms) ? (new Date(ms).toISOString().split('T')[0] ?? '') : '–';

const isTime = (ms: number | null | undefined): ms is number =>
  ms !== null && ms !== undefined && Math.abs(ms) <= 8.64e15;

/** A duration in its two largest units: `3 min 4 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}

/** How long ago a time was, in the largest unit: `3 hours`, `less than a minute`. */
export function age(ms: number, now: number): string {
  const minutes = Math.max(0, Math.floor((now - ms) / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return counted(minutes, 'minute');
  if (minutes < 48 * 60) return counted(Math.floor(minutes / 60), 'hour');
  return counted(Math.floor(minutes / 1_440), 'day');
}
