/** One program of a pipeline: its words, and the file of its output. */
export type Stage = { readonly words: readonly string[]; readonly to: string | undefined };

/** A line of a shell block that can be run: its pipeline, and the exit code that the page promises. */
export type ShellLine = { readonly line: string; readonly stages: readonly Stage[]; readonly code: number };

const TOKEN = /\s*(?:(?<comment>#.*$)|(?<operator>&&|[|>])|(?<word>(?:'[^']*'|"[^"]*"|[^\s'"|>&#])+))/y;

/** The lines of a block: without empty ones and comments, and with those that end in `\` joined. */
export const linesOf = (text: string): readonly string[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));

/**
 * Parses a line in the subset of shell syntax that the pages use: words, quotes, `|` and `>`. A comment `# exits 3`
 * gives the exit code. Throws for any other syntax.
 */
export function parseLine(line: string): ShellLine {
  const stages: { words: string[]; to: string | undefined }[] = [{ words: [], to: undefined }];
  let code = 0;
  let isFile = false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < line.trimEnd().length) {
    const { groups } = TOKEN.exec(line) ?? {};
    const { comment, operator, word } = groups ?? {};
    const stage = stages.at(-1);
    if (groups === undefined || stage === undefined || operator === '&&')
      throw new Error(`expected words, quotes, | and >, got ${line}`);
    if (comment !== undefined) {
      code = Number(/exits (\d)/.exec(comment)?.[1] ?? 0);
      break;
    }
    if (operator === '|') stages.push({ words: [], to: undefined });
    else if (operator === '>') isFile = true;
    else if (isFile) [stage.to, isFile] = [unquoted(word ?? ''), false];
    else stage.words.push(unquoted(word ?? ''));
  }
  return { line, stages, code };
}

const unquoted = (word: string) =>
  word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double);

/** The arguments of `npx platform-sync`; undefined for any other program: a clone has no bare `platform-sync`. */
export function argumentsOf({ words: [npx, name, ...rest] }: Stage): readonly string[] | undefined {
  return npx === 'npx' && name === 'platform-sync' ? rest : undefined;
}
