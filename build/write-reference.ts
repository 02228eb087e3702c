import { writeFileSync } from 'node:fs';
import { pages } from './reference/pages.ts';

// This is what `npm run reference` runs.
for (const [page, make] of Object.entries(pages)) writeFileSync(page, make());
