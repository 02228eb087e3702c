export type XmlElement = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
};

const TOKEN = /<\?xml [^>]*\?>|<(\/?)([\w-]+)((?: [\w-]+="[^"<]*")*)>|([^<>]+)/gy;
const ENTITY = /&(?:(amp|lt|gt|quot)|#(\d+));|&/g;
const CHARACTERS = { amp: '&', lt: '<', gt: '>', quot: '"' } as const;
/** Text that consists of characters that XML 1.0 allows. */
const CHARACTER = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;

const plain = (text: string) =>
  text.replaceAll(ENTITY, (all, named: keyof typeof CHARACTERS | undefined, code) => {
    if (all === '&') throw new Error(`expected an entity, got ${text}`);
    return named === undefined ? String.fromCodePoint(Number(code)) : CHARACTERS[named];
  });

/** Parses a small part of XML strictly into elements. Throws for anything else. */
export function parseXml(source: string): readonly XmlElement[] {
  if (!CHARACTER.test(source)) throw new Error('expected characters of XML 1.0');
  const open = [{ name: '', attributes: {}, children: [] as XmlElement[], text: '' }];
  let end = 0;
  for (const { 0: token, 1: closes, 2: name, 3: attributes = '', 4: text, index } of source.matchAll(TOKEN)) {
    end = index + token.length;
    const at = open.at(-1);
    if (text !== undefined && at !== undefined) at.text += plain(text);
    else if (closes === '/') {
      if (at?.name !== name) throw new Error(`expected </${at?.name}>, got ${token}`);
      open.pop();
    } else if (name !== undefined) {
      const named = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)];
      const element = {
        name,
        attributes: Object.fromEntries(named.map(([, key, value = '']) => [key, plain(value)])),
        children: [],
        text: '',
      };
      at?.children.push(element);
      open.push(element);
    }
  }
  if (end !== source.length || open.length !== 1)
    throw new Error(`expected XML, got ${source.slice(end, end + 80)}`);
  return open[0]?.children ?? [];
}
