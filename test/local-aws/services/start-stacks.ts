import { text } from 'node:stream/consumers';
import { escapeXml } from '../documented/reply.ts';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** An output, as CloudFormation describes it. */
export type StackOutput = {
  readonly OutputKey: string;
  readonly OutputValue: string;
  readonly Description: string;
};

/** Starts a stand-in for CloudFormation with one stack, which is returned for any name. It describes the stack's outputs. */
export const startStacks = (outputs: () => readonly StackOutput[]): Promise<LoopbackServer> =>
  startLoopbackServer(async (request, response) => {
    const sent = new URLSearchParams(await text(request).catch(() => ''));
    const isKnown = sent.get('Action') === 'DescribeStacks';
    response.writeHead(isKnown ? 200 : 400, { 'content-type': 'text/xml' });
    response.end(isKnown ? described(sent.get('StackName') ?? '', outputs()) : UNKNOWN);
  });

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';

const UNKNOWN = `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>InvalidAction</Code><Message>InvalidAction</Message></Error></ErrorResponse>`;

const described = (name: string, outputs: readonly StackOutput[]) =>
  `<DescribeStacksResponse xmlns="${NAMESPACE}"><DescribeStacksResult><Stacks><member><StackName>${escapeXml(name)}</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${outputs.map(membersOf).join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;

const membersOf = (output: StackOutput) =>
  `<member>${Object.entries(output)
    .map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`)
    .join('')}</member>`;
