import { processTerminal } from '../terminal/process-terminal.ts';
import { tourIntroduction } from './introduction.ts';

/** How long the servers of a tour that is stopped may take to end: what is left of them ends with this process. */
const LONGEST_END_MS = 1_000;

/** As of a process that SIGINT has ended. */
const STOPPED = 130;

// What `npm start` runs.
const terminal = processTerminal({ isQuiet: true });
terminal.signal.addEventListener('abort', () =>
  setTimeout(() => process.exit(STOPPED), LONGEST_END_MS).unref(),
);
for (const line of tourIntroduction) terminal.out(line);
try {
  // Loaded only now: the servers and the stack take seconds.
  const { tour } = await import('./tour.ts');
  process.exitCode = await tour(terminal);
} catch (error) {
  // Whoever stopped it knows why it ended.
  process.exitCode = terminal.signal.aborted ? STOPPED : 1;
  if (!terminal.signal.aborted)
    terminal.err(`the tour failed: ${error instanceof Error ? error.message : String(error)}`);
}
