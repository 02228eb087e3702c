import { relative } from 'node:path';
import { expect } from 'vitest';

// Before each file: whose calls are recorded, where `ACCESS_CALLS` names a folder (see local-aws/permissions/recorded.ts).
process.env['ACCESS_CALLS_BY'] = relative(process.cwd(), expect.getState().testPath ?? '');
