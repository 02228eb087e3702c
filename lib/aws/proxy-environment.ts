import { preview } from '../json/faults.ts';
import { hideUser } from '../json/hide-user.ts';

/** An environment, or the part of one that names proxies. */
export type ProxyEnvironment = Readonly<Partial<Record<string, string>>>;

/** Node reads the names in lower case first. */
const PROXIES = ['https_proxy', 'HTTPS_PROXY'] as const;

const NAMES = [...PROXIES, 'NO_PROXY', 'no_proxy'] as const;

/**
 * The variables that name a proxy for https and its exceptions, for the `proxyEnv` of Node's agents. Throws `TypeError`
 * for a proxy that cannot be used (see `proxyFaults`): reading the settings refuses it before.
 */
export function proxyEnvironment(environment: ProxyEnvironment): Record<string, string> {
  const [fault] = proxyFaults(environment);
  if (fault !== undefined) throw new TypeError(fault);
  return Object.fromEntries(NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

/** Proxies that cannot be used: Node would ignore them and send the request directly, or print their passwords. */
export function proxyFaults(environment: ProxyEnvironment): readonly string[] {
  return PROXIES.flatMap((name) => {
    const proxy = environment[name];
    return !proxy || isProxyUrl(proxy)
      ? []
      : [`${name}: expected the http or https URL of a proxy, got ${preview(proxy, hideUser)}`];
  });
}

const isProxyUrl = (text: string) =>
  text.trim() === text && URL.canParse(text) && /^https?:\/\/[^/]/i.test(text);
