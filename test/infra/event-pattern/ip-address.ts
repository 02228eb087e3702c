import { BlockList, isIP } from 'node:net';

type Address = { readonly family: 'ipv4' | 'ipv6'; readonly text: string };

/** Returns the test for addresses within `ADDRESS/BITS`; undefined for any other text, such as a single address. */
export function inRange(cidr: string): ((value: string) => boolean) | undefined {
  const [, base = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(cidr) ?? [];
  const address = addressOf(base);
  if (address === undefined || Number(bits) >= BITS[address.family]) return undefined;
  const range = new BlockList();
  range.addSubnet(address.text, Number(bits), address.family);
  return (value) => {
    const { family, text } = addressOf(value) ?? {};
    return family === address.family && text !== undefined && range.check(text, family);
  };
}

/** Returns the test for one address, in any spelling; undefined if the text is not an address. */
export function sameAddress(wanted: string): ((value: string) => boolean) | undefined {
  const address = addressOf(wanted);
  return address && ((value) => addressOf(value)?.text === address.text);
}

const BITS = { ipv4: 32, ipv6: 128 } as const;

/** The canonical form of an address, without leading zeros. An IPv4 address embedded in IPv6 becomes the IPv4 address. */
function addressOf(text: string): Address | undefined {
  if (/^\d+(\.\d+){3}$/.test(text) && text.length <= MAX_IPV4_LENGTH) {
    const plain = text.split('.').map(Number).join('.');
    return isIP(plain) === 4 ? { family: 'ipv4', text: plain } : undefined;
  }
  if (!/^[\da-f:]+$/i.test(text) || isIP(text) !== 6) return undefined;
  const plain = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(plain) ?? [];
  if (high === undefined || low === undefined) return { family: 'ipv6', text: plain };
  return { family: 'ipv4', text: [high, low].flatMap(bytesOf).join('.') };
}

const MAX_IPV4_LENGTH = '255.255.255.255'.length;

function bytesOf(hex: string): readonly number[] {
  const value = Number.parseInt(hex, 16);
  return [value >> 8, value & 255];
}
