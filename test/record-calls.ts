import { relative } from 'node:path';
import { expect } from 'vitest';

// Runs before each test file: sets the file whose calls are recorded if `ACCESS_CALLS` names a folder (see
// local-aws/permissions/recorded.ts).
process.env['ACCESS_CALLS_BY'] = relative(process.cwd(), expect.getState().testPath ?? '');
