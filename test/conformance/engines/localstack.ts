import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { byPip } from './fetch.ts';

const VERSION = '4.12.0';

/** What it needs in versions that go with one another, and with which it starts without a licence. */
const PACKAGES = [
  `localstack==${VERSION}`,
  `localstack-core[runtime]==${VERSION}`,
  'cbor2==5.7.1',
  'pyopenssl==24.2.1',
  'cryptography<44',
  'psutil<7',
  'service_identity',
];

/** One of its files says `Lock | None`, which is no type before Python 3.13: there annotations are left as texts. */
const FOR_OLDER_PYTHONS = [
  'import importlib.util, pathlib',
  'root = pathlib.Path(importlib.util.find_spec("localstack").submodule_search_locations[0])',
  'file = root / "packages" / "api.py"',
  'file.write_text("from __future__ import annotations\\n" + file.read_text())',
].join('\n');

/** Its functions are stored, with all that is known of them, and not prepared to run: that takes Docker and downloads. */
const WITHOUT_DOCKER = [
  'from localstack.services.lambda_.invocation.docker_runtime_executor import DockerRuntimeExecutor',
  'DockerRuntimeExecutor.prepare_version = classmethod(lambda *_: None)',
];

/**
 * What updates and deletions need. It takes a name that refers to an updated resource for a new one, and makes an alias
 * again that is there: what is replaced here has another value than before. It has no update of an alias. It ignores that a
 * resource is to be retained.
 */
const UPDATES = [
  'from localstack.services.cloudformation.engine.v2.change_set_model_executor import ChangeSetModelExecutor, is_nothing',
  'from localstack.services.cloudformation.resource_provider import OperationStatus, ProgressEvent, ResourceProviderExecutor',
  'from localstack.services.lambda_.resource_providers.lambda_alias import LambdaAliasProvider',
  'change = ChangeSetModelExecutor._execute_resource_change',
  'def as_documented(self, name, before, after):',
  '    nodes = self._change_set.update_model.node_template.resources.resources',
  '    [policy] = [each.deletion_policy for each in nodes if each.name == name]',
  '    if is_nothing(after) and not is_nothing(policy) and policy.value.startswith("Retain"):',
  '        return',
  '    if not is_nothing(before) and getattr(after, "requires_replacement", False):',
  '        schema = ResourceProviderExecutor.try_load_resource_provider(after.resource_type).SCHEMA',
  '        fixed = [path.removeprefix("/properties/") for path in schema["createOnlyProperties"]]',
  '        was, is_now = before.properties.properties, after.properties.properties',
  '        after.requires_replacement = any(was.get(each) != is_now.get(each) for each in fixed)',
  '    return change(self, name, before, after)',
  'ChangeSetModelExecutor._execute_resource_change = as_documented',
  'def update_alias(self, request):',
  '    wanted = {each: request.desired_state[each] for each in ["FunctionName", "Name", "FunctionVersion"]}',
  '    request.aws_client_factory.lambda_.update_alias(**wanted)',
  '    return ProgressEvent(OperationStatus.SUCCESS, {**request.previous_state, **wanted})',
  'LambdaAliasProvider.update = update_alias',
];

const MAIN = [...WITHOUT_DOCKER, ...UPDATES, 'from localstack.runtime.main import main', 'main()'].join('\n');

/**
 * Somebody else's CloudFormation, and the services that it makes resources of, in one process on this machine. It runs
 * functions in Docker alone, and so none here.
 */
export const localStack: Engine = {
  name: 'LocalStack',
  version: VERSION,
  async fetch(fetching) {
    await byPip(...PACKAGES)(fetching);
    const python = join(fetching.folder, 'venv', 'bin', 'python');
    // Its closed part, which asks for a licence.
    await fetching.run([python, '-m', 'pip', 'uninstall', '--quiet', '--yes', 'localstack-ext']);
    await fetching.run([python, '-c', FOR_OLDER_PYTHONS]);
  },
  start: ({ fetched, scratch, port }) => {
    const python = join(fetched, 'venv', 'bin', 'python');
    const host = `127.0.0.1:${port}`;
    const endpoint = `http://${host}`;
    return {
      command: [python, '-c', MAIN],
      environment: {
        // Its own server listens on all addresses.
        GATEWAY_SERVER: 'hypercorn',
        GATEWAY_LISTEN: host,
        LOCALSTACK_HOST: host,
        // The URLs of queues are of this address, and no name is looked up.
        SQS_ENDPOINT_STRATEGY: 'path',
        DNS_ADDRESS: '0',
        ACTIVATE_PRO: '0',
        DISABLE_EVENTS: '1',
        CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES: '1',
        SKIP_SSL_CERT_DOWNLOAD: '1',
        LOCALSTACK_VOLUME_DIR: scratch,
        // Where it remembers what plugins there are, also those of another version.
        HOME: scratch,
      },
      respondsAt: `${endpoint}/_localstack/health`,
      startMs: 120_000,
      engines: { localStack: { endpoint, python } },
    };
  },
};
