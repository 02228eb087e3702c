import { writeFileSync } from 'node:fs';
import { alarmsPage } from './alarms-page.ts';

// `npm run reference` runs this file after the pages that need no stack.
writeFileSync('docs/alarms.md', alarmsPage());
