import type { View } from '../state/hash.ts';

/** What each part of the page is called. */
export const viewTitles: Readonly<Record<View, string>> = {
  health: 'Health',
  changes: 'What changed',
  'where-used': 'Where used',
  batches: 'Sentiment',
  jobs: 'Jobs and pace',
  broken: 'Broken links',
  owners: 'Owners',
  owned: 'What an owner has',
  calculations: 'Calculations',
  cards: 'Cards',
  datasets: 'Datasets',
  files: 'Files',
  'data-files': 'Data files',
};
