import { writeFileSync } from 'node:fs';
import { alarmsPage } from './alarms-page.ts';

// What `npm run reference` runs after the pages that need no stack.
writeFileSync('docs/alarms.md', alarmsPage());
