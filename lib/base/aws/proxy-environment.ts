import { preview } from '../json/faults.ts';
import { hideUser } from '../json/shown.ts';

export type ProxyEnvironment = Readonly<Partial<Record<string, string>>>;

/** Node reads the names in lower case first. */
const PROXIES = ['https_proxy', 'HTTPS_PROXY'] as const;

/** Used where no proxy for https is named, as most programs do; Node itself does not know them. */
const ALL = ['all_proxy', 'ALL_PROXY'] as const;

const EXCEPTIONS = ['NO_PROXY', 'no_proxy'] as const;

/** For the `proxyEnv` of Node's agents. Throws `TypeError` for a proxy that cannot be used (see `proxyFaults`). */
export function proxyEnvironment(environment: ProxyEnvironment): Record<string, string> {
  const [fault] = proxyFaults(environment);
  if (fault !== undefined) throw new TypeError(fault);
  const proxies = namesIn(environment).map((name) => [
    ALL.some((all) => all === name) ? 'HTTPS_PROXY' : name,
    environment[name],
  ]);
  const exceptions = EXCEPTIONS.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []));
  return Object.fromEntries([...proxies, ...exceptions]);
}

/** Proxies that cannot be used: Node would ignore them and send the request directly, or print their passwords. */
export function proxyFaults(
  environment: ProxyEnvironment,
  node: string = process.versions.node,
): readonly string[] {
  return namesIn(environment).flatMap((name) => {
    const proxy = environment[name];
    if (!proxy) return [];
    if (!isProxyUrl(proxy))
      return [`${name}: expected the http or https URL of a proxy, got ${preview(proxy, hideUser)}`];
    return knowsProxies(node) ? [] : [`${name}: expected Node 22.21, 24.5 or newer for a proxy, got ${node}`];
  });
}

/** Whether the agents of this Node take `proxyEnv`: an older one ignores it. */
function knowsProxies(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  return major === 22 ? minor >= 21 : major > 24 || (major === 24 && minor >= 5);
}

function namesIn(environment: ProxyEnvironment): readonly string[] {
  const named = PROXIES.filter((name) => environment[name]);
  return named.length > 0 ? named : ALL.filter((name) => environment[name]).slice(0, 1);
}

const isProxyUrl = (text: string) =>
  text.trim() === text && URL.canParse(text) && /^https?:\/\/[^/]/i.test(text);
