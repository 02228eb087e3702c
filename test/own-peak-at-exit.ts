import { writeSync } from 'node:fs';
import { ownPeakMb } from './own-peak.ts';

/* Loaded into a process by `--import`: writes its greatest memory, in megabytes, to its pipe 3 when it ends. */

process.on('exit', () => writeSync(3, String(ownPeakMb())));
