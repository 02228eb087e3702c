import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'queries');

/**
 * The saved queries, sorted by name. Each is a file in `queries/`, in Trino's SQL, which Athena uses too. The comment
 * at its start is the description.
 */
export function savedQueries(): readonly {
  readonly name: string;
  readonly description: string;
  readonly sql: string;
}[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    const [comment = ''] = /^(--[^\n]*\n)+/.exec(text) ?? [];
    const description = comment.replaceAll(/^-- ?/gm, '').replaceAll('\n', ' ').trim();
    if (description === '') throw new Error(`${file}: expected a comment at its start, got none`);
    return { name: file.slice(0, -'.sql'.length), description, sql: text.slice(comment.length).trim() };
  });
}
