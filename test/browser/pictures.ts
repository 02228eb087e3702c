import { join } from 'node:path';
import { makeFacts } from '../report/make-facts.ts';
import { openReport, startBrowser, writeReport } from './open-report.ts';

/* `npm run pictures`: takes the screenshots of the report for the pages, light and dark, and stores them in `docs`. */

await using browser = await startBrowser();
using report = await writeReport(await makeFacts({ calculations: 20_000, cards: 3_000, datasets: 120 }));

for (const colorScheme of ['light', 'dark'] as const) {
  const { page } = await openReport(browser, report.url, {
    colorScheme,
    viewport: { width: 1280, height: 820 },
    deviceScaleFactor: 1.4,
  });
  await page.screenshot({ path: join('docs', `report-${colorScheme}.png`) });
}
