import { processTerminal } from './process-terminal.ts';
import { tour } from './tour.ts';

// What `npm start` runs.
try {
  process.exitCode = await tour(processTerminal());
} catch (error) {
  process.stderr.write(`the tour failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
