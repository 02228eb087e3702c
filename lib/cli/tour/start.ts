import { errorText } from '../../base/index.ts';
import { exitCodes, processTerminal } from '../terminal/terminal.ts';

/** The time that the servers have to close after a stop, in milliseconds. Then the process exits anyway. */
const MAX_END_MS = 1_000;

const STEPS = 9;

// This file is what `npm start` runs.
const terminal = processTerminal();
terminal.signal.addEventListener('abort', () =>
  setTimeout(() => process.exit(exitCodes.stopped), MAX_END_MS).unref(),
);
for (const line of [
  `The tour of platform-sync: ${STEPS} steps in about a minute, only on this machine.`,
  'A simulated platform with 20,000 calculations and 100,000 files stands in for yours; everything else is files in a folder.',
  `Everything runs on Node ${process.versions.node}, which \`npm ci\` has installed: ignore npm’s warnings about engines.`,
])
  terminal.out(line);
try {
  // The tour is loaded after the first lines are printed, since loading it takes seconds.
  const { tour } = await import('./tour.ts');
  await tour(terminal, STEPS);
} catch (error) {
  process.exitCode = terminal.signal.aborted ? exitCodes.stopped : exitCodes.failed;
  if (!terminal.signal.aborted) terminal.err(`the tour failed: ${errorText(error)}`);
}
