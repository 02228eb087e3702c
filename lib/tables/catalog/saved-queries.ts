import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'queries');

/**
 * The saved queries, in the order of their names. Each of them is a file in `queries/`, in the SQL of Trino and Athena;
 * its description is the comment at the start.
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
