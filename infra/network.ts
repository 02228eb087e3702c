import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  CfnEIP,
  FlowLogDestination,
  GatewayVpcEndpointAwsService,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Grant, type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { acknowledgeWildcard } from './nag.ts';

export type NetworkProps = Pick<Instance, 'baseUrl' | 'fixedAddress' | 'lifetimes'>;

/**
 * A network that every call leaves from one fixed address, for platforms with an allow-list. It has one NAT gateway: a
 * second one would be a second address.
 */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly securityGroup: SecurityGroup;

  constructor(scope: Construct, id: string, { baseUrl, fixedAddress, lifetimes }: NetworkProps) {
    super(scope, id);
    const given = typeof fixedAddress === 'string' ? fixedAddress : undefined;
    const address = given === undefined ? this.newAddress() : undefined;
    const vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 1,
      natGatewayProvider: NatProvider.gateway({
        eipAllocationIds: [given ?? address?.attrAllocationId ?? ''],
      }),
      subnetConfiguration: [
        { name: 'Public', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
      // Traffic to the bucket and the table is free through these, and does not pass the NAT gateway.
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    const logGroup = new LogGroup(this, 'FlowLogs', {
      retention: lifetimes.logs,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const flowLogs = new ServicePrincipal('vpc-flow-logs.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
    });
    const role = new Role(this, 'FlowLogsRole', { assumedBy: flowLogs });
    vpc.addFlowLog('FlowLog', { destination: FlowLogDestination.toCloudWatchLogs(logGroup, role) });
    this.vpc = vpc;
    this.securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      allowAllOutbound: false,
      description: 'Functions that call the platform and AWS',
    });
    for (const port of new Set([443, Number(new URL(baseUrl).port || 443)]))
      this.securityGroup.addEgressRule(
        Peer.anyIpv4(),
        Port.tcp(port),
        `Port ${port} of the platform and AWS`,
      );
    if (address === undefined) return;
    new CfnOutput(this, 'EgressAddress', {
      value: address.attrPublicIp,
      description: 'The address to put on the allow-list of the platform',
    });
    new CfnOutput(this, 'EgressAllocation', {
      value: address.attrAllocationId,
      description: 'What fixedAddress is set to, so that another stack has this address',
    });
  }

  /** Others have it on their lists: it stays when the setting is turned off and when the stack is destroyed. */
  private newAddress(): CfnEIP {
    const address = new CfnEIP(this, 'Address', { domain: 'vpc' });
    address.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    return address;
  }

  /** What Lambda does on behalf of a function to connect it; AWS accepts no narrower resource for it. */
  grantConnect(role: IRole): void {
    Grant.addToPrincipal({
      grantee: role,
      actions: [
        'ec2:CreateNetworkInterface',
        'ec2:DeleteNetworkInterface',
        'ec2:DescribeNetworkInterfaces',
        'ec2:DescribeSubnets',
        'ec2:AssignPrivateIpAddresses',
        'ec2:UnassignPrivateIpAddresses',
      ],
      resourceArns: ['*'],
    });
    acknowledgeWildcard(
      role,
      '*',
      'Lambda creates the interface of a function; its name is not known in advance.',
    );
  }
}
