import { processTerminal } from './process-terminal.ts';
import { tour } from './tour.ts';

// What `npm start` runs.
process.exitCode = await tour(processTerminal());
