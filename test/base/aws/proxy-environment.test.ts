import { expect, test } from 'vitest';
import { proxyFaults } from '../../../lib/base/aws/client-config.ts';

test.each(['24.0.0', '24.4.9'])('Node %s would ignore a proxy: a fault', (node) => {
  expect(proxyFaults({ https_proxy: 'http://proxy.example.com:1080' }, node)).toEqual([
    `https_proxy: expected Node 24.5 or newer for a proxy, got ${node}`,
  ]);
  expect(proxyFaults({ NO_PROXY: '*' }, node)).toEqual([]);
});

test.each(['24.5.0', '24.21.0', '26.0.0'])('Node %s goes through a proxy', (node) => {
  expect(proxyFaults({ https_proxy: 'http://proxy.example.com:1080' }, node)).toEqual([]);
});
