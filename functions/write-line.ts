/**
 * Writes a line of the log. Not by `console`, whose methods Lambda's runtime replaces: in its text format each line would
 * get a prefix, in its JSON format it would become a text within another object.
 */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
