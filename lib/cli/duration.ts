/** A time that something takes, rounded up: `90 s`, `12 min`, `3.5 h`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
