import { columnsPage } from './columns-page.ts';
import { commandsPage } from './commands-page.ts';
import { configPage, configSchemaFile } from './config-page.ts';
import { referencePage } from './page.ts';
import { settingsPage } from './settings-page.ts';

/** The generated pages of the manual and the schema for editors, each with the function that builds it. */
export const pages: Readonly<Record<string, () => string>> = {
  'docs/reference.md': referencePage,
  'docs/columns.md': columnsPage,
  'docs/commands.md': commandsPage,
  'docs/all-settings.md': settingsPage,
  'docs/config.md': configPage,
  'infra/config.schema.json': configSchemaFile,
};
