import { readFileSync } from 'node:fs';

/** A docstring, and the declaration below it. */
export type Documented = { readonly doc: string; readonly signature: string };

const joined = (comment: string) =>
  comment
    .replaceAll(/^\s*(?:\/\*\*|\*\/|\*) ?|\s*\*\/$/gm, '')
    .split(/\s*\n\s*/)
    .join(' ')
    .trim();

/** The docstring of an exported constant or type of a file. Throws if it has none. */
export function docOf(file: string, name: string): string {
  const source = readFileSync(file, 'utf8');
  const pattern = new RegExp(`(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/)\\nexport (?:const|type) ${name}\\b`);
  const [, comment] = pattern.exec(source) ?? [];
  if (comment === undefined) throw new Error(`${file}: expected a docstring of ${name}, got none`);
  return joined(comment);
}

/**
 * The docstring and signature of a method in a group of the object that `creator` creates, such as
 * `calculations.search` of `operations`. Throws if the method is missing.
 */
export function methodOf(file: string, creator: string, path: string): Documented {
  const source = readFileSync(file, 'utf8');
  const [group = '', name = ''] = path.split('.');
  const [, body = ''] =
    new RegExp(`const ${creator} = [^\\n]*=> \\(\\{\\n([\\s\\S]*?)\\n\\}\\);`).exec(source) ?? [];
  const [, methods = ''] = new RegExp(`^ {2}${group}: \\{\\n([\\s\\S]*?)\\n {2}\\},`, 'm').exec(body) ?? [];
  const method = new RegExp(
    `(?:/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*)?^ {4}${name}: (\\([\\s\\S]*?\\)) =>`,
    'm',
  );
  const found = method.exec(methods);
  if (found === null) throw new Error(`${file}: expected ${path} in ${creator}, got none`);
  const [, comment = '', parameters = ''] = found;
  const oneLine = parameters
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('( ', '(')
    .replaceAll(/,? \)/g, ')');
  // A parameter that is destructured gets the name of its rest, or of its type.
  const named = oneLine
    .replaceAll(/\{[^{}]*\.\.\.(\w+) \}: ((?:[^{}=]|\{[^{}]*\})*?) = \{\}/g, '$1?: $2')
    .replaceAll(
      /\{[^{}]*\}: (\w)(\w*)/g,
      (_, first: string, rest: string) => `${first.toLowerCase()}${rest}: ${first}${rest}`,
    );
  return { doc: joined(comment), signature: `${name}${named}` };
}

/** The docstrings of the members of the object `constant`, and of the members within them, by name. */
export function memberDocs(source: string, constant: string): Readonly<Record<string, string>> {
  const [, body = ''] = new RegExp(`const ${constant} = ([\\s\\S]*?)\\n(?:\\)|\\})`).exec(source) ?? [];
  const documented = body.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*'?([\w-]+)\b/g);
  return Object.fromEntries([...documented].map(([, comment = '', name = '']) => [name, joined(comment)]));
}
