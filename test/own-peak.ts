import { readFileSync, writeFileSync } from 'node:fs';

/**
 * The most memory that this process has had, in megabytes. `getrusage` would also count what its parent had when it
 * started this one; Linux reports a program's own peak beside it.
 */
export function ownPeakMb(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kilobytes !== undefined) return Number(kilobytes) / 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS / 1024;
}

/** Lets `ownPeakMb` begin again at what the process has now, where the system can. */
export function resetOwnPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Only Linux can reset the peak.
  }
}
