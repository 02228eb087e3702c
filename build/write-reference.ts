import { writeFileSync } from 'node:fs';
import { referencePage } from './reference/page.ts';

// What `npm run reference` runs.
writeFileSync('docs/reference.md', referencePage());
