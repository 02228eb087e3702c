/** How many steps the tour has. */
export const TOUR_STEPS = 8;

/** What the tour says before it loads anything. */
export const tourIntroduction: readonly string[] = [
  `platform-sync, the tour: ${TOUR_STEPS} steps in half a minute, on this machine alone.`,
  'A reference platform with 20,000 calculations and 100,000 files stands in for yours; all else is files in a folder.',
  `Everything runs on Node ${process.versions.node}, which \`npm ci\` brought along: npm’s warnings about engines do no harm.`,
];
