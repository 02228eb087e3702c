import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { domainToASCII } from 'node:url';
import { hideUser, preview, systemReason } from '../faults.ts';

/** The environment variables with the proxy, its exceptions and the certificate authorities. */
export type NetworkEnvironment = Readonly<Partial<Record<string, string>>>;

/**
 * Load balancers close connections that were idle for a minute (AWS's default), often silently, and a request that
 * is sent at that moment is lost. So a connection that was idle for half a minute is not reused. In milliseconds.
 */
export const MAX_IDLE_MS = 30_000;

/**
 * An agent for https that uses the proxy of the environment, except for the hosts of `NO_PROXY`, and trusts
 * the certificates of `AWS_CA_BUNDLE` and `NODE_EXTRA_CA_CERTS` in addition to Node's own. Errors through a proxy
 * mention the proxy, without its password. Throws `TypeError` if `networkFaults` reports a fault.
 */
export function createHttpsAgent(
  environment: NetworkEnvironment,
  parts: {
    readonly keepAlive?: boolean;
    readonly maxSockets?: number;
    readonly maxIdleMs?: number;
  } = {},
): Agent {
  const { maxIdleMs = MAX_IDLE_MS, ...options } = parts;
  const [fault] = networkFaults(environment);
  if (fault !== undefined) throw new TypeError(fault);
  const shared = { keepAlive: true, timeout: maxIdleMs, ...options, ...trusted(environment) };
  const direct = new Agent(shared);
  const connect = direct.createConnection.bind(direct);
  direct.createConnection = (to, done) => {
    const stream = connect(to, done);
    stream?.prependListener('error', nameNoTls);
    return stream;
  };
  const proxy = proxyIn(environment);
  if (proxy === undefined) return direct;
  const agent = new Agent({ ...shared, proxyEnv: { HTTPS_PROXY: proxy.url } });
  const tunnel = agent.createConnection.bind(agent);
  agent.createConnection = (to, done) => {
    if (isExcepted(to.host ?? '', String(to.port ?? ''), environment))
      return direct.createConnection(to, done);
    return tunnel(to, (error, stream) => {
      if (error) nameProxy(error, proxy.shown);
      else stream.prependListener('error', (broken) => nameProxy(broken, proxy.shown));
      done?.(error, stream);
    });
  };
  return agent;
}

/**
 * Changes the code of the error for a server that does not speak TLS. Without a proxy, Node's code is `EPROTO`, as
 * after any other failed handshake; the new code is the one that Node gives with a proxy.
 */
function nameNoTls(error: Error): void {
  const [, reason] = /\b(wrong version number|packet length too long)\b/.exec(error.message) ?? [];
  if (reason !== undefined)
    Object.assign(error, { code: `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}` });
}

function nameProxy(error: Error, proxy: string): void {
  if (!error.message.includes(proxy)) error.message += ` (through the proxy ${proxy})`;
}

/** The proxy for requests to an address, without user and password; undefined if the requests use no proxy. */
export function proxyOf(
  { protocol, hostname, port }: URL,
  environment: NetworkEnvironment,
): string | undefined {
  if (protocol !== 'https:' || isExcepted(hostname, port, environment)) return undefined;
  return proxyIn(environment)?.shown;
}

/**
 * The variables for a proxy, of which the first that is set is used. Lower case takes precedence, as in most programs.
 * Unlike most programs, Node itself does not know `ALL_PROXY`.
 */
const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'] as const;

function proxyIn(environment: NetworkEnvironment) {
  const name = PROXIES.find((each) => environment[each]);
  const set = name && environment[name];
  if (!set) return undefined;
  // curl, Go and Python read an address without a scheme as http.
  const url = set.includes('://') ? set : `http://${set}`;
  const shown = URL.canParse(url) ? `${new URL(url).protocol}//${new URL(url).host}` : hideUser(url);
  return { name, set, url, shown };
}

/**
 * Faults in the settings of the proxy and the certificates. Without this check, Node would ignore invalid settings and
 * connect directly, or print a password.
 */
export function networkFaults(
  environment: NetworkEnvironment,
  node: string = process.versions.node,
): readonly string[] {
  const { name, set = '', url = '' } = proxyIn(environment) ?? {};
  const faults = [...authorities(environment).faults];
  if (name !== undefined && !isProxyUrl(url))
    faults.push(`${name}: expected the address of an http or https proxy, got ${preview(set, hideUser)}`);
  else if (name !== undefined && !knowsProxies(node))
    faults.push(`${name}: expected Node 24.5 or newer for a proxy, got ${node}`);
  return faults;
}

/** Whether agents of this version of Node support `proxyEnv`, which older versions ignore. */
function knowsProxies(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5);
}

const isProxyUrl = (text: string) => URL.canParse(text) && /^https?:\/\/[^/\s]\S*$/i.test(text);

type Authorities = { readonly secureContext?: SecureContext; readonly faults: readonly string[] };

/** The TLS contexts created so far, by certificate files, for all clients of a process: creating one takes 20 ms. */
const known = new Map<string, Authorities>();

/**
 * The certificates in the file of AWS_CA_BUNDLE, in addition to Node's own. The AWS CLI reads that variable, the SDK
 * does not. Node reads NODE_EXTRA_CA_CERTS when it starts, so these certificates are missing only if the variable was
 * set in a settings file. Node ignores a file that it cannot read, so that is not a fault here either. Each file is
 * read once in a process.
 */
function authorities({ AWS_CA_BUNDLE: file, NODE_EXTRA_CA_CERTS: extra }: NetworkEnvironment): Authorities {
  if (!file && !extra) return { faults: [] };
  const key = `${file}\n${extra}`;
  const read = known.get(key) ?? readAuthorities(file, extra);
  if (read.faults.length === 0) known.set(key, read);
  return read;
}

/**
 * Reads the certificates into a TLS context. The option `ca` would be parsed for each connection, and would
 * be part of the key of its pool.
 */
function readAuthorities(file: string | undefined, extraFile: string | undefined): Authorities {
  const bundle = file ? readCertificates(file) : [];
  if (typeof bundle === 'string')
    return { faults: [`AWS_CA_BUNDLE: expected a file of PEM certificates, got ${bundle}`] };
  const extra = extraFile ? readCertificates(extraFile) : [];
  const ofNode = new Set(getCACertificates('extra').map(bare));
  const own = [...bundle, ...(typeof extra === 'string' ? [] : extra)].filter(
    (pem) => !ofNode.has(bare(pem)),
  );
  if (own.length === 0) return { faults: [] };
  return {
    secureContext: createSecureContext({ ca: [...getCACertificates('default'), ...own] }),
    faults: [],
  };
}

const bare = (pem: string) => pem.replaceAll(/\s/g, '');

/** Matches the certificates of a PEM file. */
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a file; if none is valid, a description of what was found. */
function readCertificates(file: string): readonly string[] | string {
  try {
    const found = readFileSync(file, 'utf8').match(CERTIFICATES) ?? [];
    // One valid certificate shows what the file is. Checking every one would take tens of milliseconds at each start.
    return found.some(isCertificate) ? found : `none in ${file}`;
  } catch (error) {
    return `${file}: ${systemReason(error)}`;
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0;
  } catch {
    return false;
  }
}

function trusted(environment: NetworkEnvironment): Pick<Authorities, 'secureContext'> {
  const { secureContext } = authorities(environment);
  return secureContext === undefined ? {} : { secureContext };
}

/**
 * Whether NO_PROXY excepts a host, which is spelled as in a URL. NO_PROXY has the same meaning as for curl, Go and
 * Python:
 * - A name is that host and all below it, with or without a leading dot.
 * - `*` is every host, `*.name` those below it.
 * - `:443` limits an entry to that port.
 * - An address may be a range (`10.0.0.0/8`), and one of IPv6 may stand in brackets.
 */
function isExcepted(host: string, port: string, { no_proxy, NO_PROXY }: NetworkEnvironment): boolean {
  const name = host.toLowerCase().replace(/^\[|[\].]$/g, '');
  return (no_proxy || NO_PROXY || '').split(/[\s,]+/).some((each) => {
    const entry = each.toLowerCase();
    if (entry === '*') return true;
    const [, bracketed, bare = '', ofPort] = ENTRY.exec(entry) ?? [];
    if (ofPort !== undefined && ofPort !== (port || HTTPS_PORT)) return false;
    return isIP(name) ? isInRange(name, bracketed ?? bare) : isWithin(name, bare);
  });
}

const HTTPS_PORT = '443';

/** Matches `[address]:port`, `name:port`, or an IPv6 address, whose colons do not separate a port. */
const ENTRY = /^(?:\[([^\]]+)\]|([^:]+|.*:.*:.*))(?::(\d+))?$/;

function isInRange(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/');
  const familyOf = (text: string) => (isIP(text) === 6 ? 'ipv6' : 'ipv4');
  const maxBits = familyOf(network) === 'ipv6' ? 128 : 32;
  const prefix = bits === undefined ? maxBits : Number.parseInt(bits, 10);
  if (isIP(network) === 0 || !(prefix <= maxBits)) return false;
  const list = new BlockList();
  list.addSubnet(network, prefix, familyOf(network));
  return list.check(address, familyOf(address));
}

function isWithin(name: string, entry: string): boolean {
  const domain = domainToASCII(entry.replace(/^\*?\./, '').replace(/\.$/, ''));
  return domain !== '' && ((name === domain && !entry.startsWith('*')) || name.endsWith(`.${domain}`));
}
