// Loaded before a measured command: when it exits, the most memory it has held and its CPU time are written to stderr.
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  process.stderr.write(`peak-kb ${maxRSS} cpu-us ${userCPUTime + systemCPUTime}\n`);
});
