import { readFileSync, writeFileSync } from 'node:fs';

/**
 * The peak memory of this process in megabytes. `getrusage` would include the memory of the parent when it started this
 * process; Linux also reports a program's own peak.
 */
export function ownPeakMb(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kilobytes !== undefined) return Number(kilobytes) / 1024;
  } catch {
    // Not on Linux: `getrusage` is used.
  }
  return process.resourceUsage().maxRSS / 1024;
}

/** Resets the peak to the present memory of the process, if the system can. */
export function resetOwnPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Only Linux can reset the peak.
  }
}
