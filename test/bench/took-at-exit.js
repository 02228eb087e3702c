// Loaded before a measured command: when it exits, the most memory it has held is written to stderr, in kB.
process.on('exit', () => process.stderr.write(`peak-memory-kb ${process.resourceUsage().maxRSS}\n`));
