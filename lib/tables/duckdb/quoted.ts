/** A text as a literal of SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as an identifier of SQL, whatever it contains. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Texts as a list of SQL. */
export const literals = (texts: readonly string[]): string => `[${texts.map(literal).join(', ')}]`;
