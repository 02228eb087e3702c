// Loaded before a measured command: at its end the most memory it has held goes to stderr, in kB.
process.on('exit', () => process.stderr.write(`peak-memory-kb ${process.resourceUsage().maxRSS}\n`));
