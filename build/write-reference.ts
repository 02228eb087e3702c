import { writeFileSync } from 'node:fs';
import { columnsPage } from './reference/columns-page.ts';
import { referencePage } from './reference/page.ts';

// What `npm run reference` runs.
writeFileSync('docs/reference.md', referencePage());
writeFileSync('docs/columns.md', columnsPage());
