import { writeFileSync } from 'node:fs';
import { pages } from './reference/pages.ts';

// `npm run reference` runs this file.
for (const [page, make] of Object.entries(pages)) writeFileSync(page, make());
