import { ownPeakMb } from '../own-peak.ts';

// Loaded before a measured command: when it exits, the most memory it has held and its CPU time are written to stderr.
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  process.stderr.write(`peak-kb ${Math.round(ownPeakMb() * 1_024)} cpu-us ${userCPUTime + systemCPUTime}\n`);
});
