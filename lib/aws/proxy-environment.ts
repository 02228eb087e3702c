/** An environment, or the part of one that names proxies. */
export type ProxyEnvironment = Readonly<Partial<Record<string, string>>>;

const NAMES = ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'] as const;

/** The variables that name a proxy for https and its exceptions, for the `proxyEnv` of Node's agents. */
export function proxyEnvironment(environment: ProxyEnvironment): Record<string, string> {
  return Object.fromEntries(NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}
