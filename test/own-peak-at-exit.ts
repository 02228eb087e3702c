import { writeSync } from 'node:fs';
import { ownPeakMb } from './own-peak.ts';

/* Loaded into a process by `--import`. At its end, writes its peak memory, in megabytes, to pipe 3. */

process.on('exit', () => writeSync(3, String(ownPeakMb())));
