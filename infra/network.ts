import { CfnOutput, Fn, Stack, Token } from 'aws-cdk-lib';
import {
  CfnEIP,
  FlowLogDestination,
  GatewayVpcEndpointAwsService,
  type ISecurityGroup,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  Subnet,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Grant, type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { isToken } from './config-fields.ts';
import type { Instance } from './config-schema.ts';
import { Endpoints } from './endpoints.ts';
import type { LogSettings } from './log-settings.ts';
import { acknowledgeWildcard } from './nag.ts';
import { REMOVAL } from './storage.ts';

export type NetworkProps = Pick<Instance, 'baseUrl' | 'fixedAddress' | 'removal' | 'endpoints' | 'proxy'> &
  ExistingNetwork & { readonly logs: LogSettings };

/** A network that exists already. Its owner provides the routes to the platform and to AWS. */
export type ExistingNetwork = {
  /**
   * An existing network, or its ids; you pay for its NAT gateway and endpoints. Default: none, or the one for
   * `fixedAddress`.
   */
  readonly vpc?: IVpc | Instance['vpc'];
  /** The functions' subnets in `vpc`, if that is a construct. Default: private subnets with egress. */
  readonly subnets?: SubnetSelection | undefined;
  /** The functions' security groups, if `vpc` is a construct. Default: a group that allows only outgoing TLS. */
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
};

type Ids = NonNullable<Instance['vpc']>;

/** Whether a network is given by its ids, rather than as a construct. */
export const isIds = (vpc: IVpc | Ids): vpc is Ids => !('vpcId' in vpc);

/**
 * The network of the functions: an existing network, or a new one in which all calls come from one fixed address, for
 * platforms with an allow-list. The new network has only one NAT gateway, since a second one would be a second address.
 */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection | undefined;
  readonly securityGroups: ISecurityGroup[];

  constructor(scope: Construct, id: string, props: NetworkProps) {
    super(scope, id);
    const { vpc } = props;
    const network = vpc !== undefined && isIds(vpc) ? this.byIds(vpc) : { ...props, vpc };
    this.vpc = network.vpc ?? this.ownVpc(props);
    this.subnets = network.subnets;
    this.securityGroups = [...(network.securityGroups ?? [this.onlyTls(props)])];
    if (props.endpoints.length > 0)
      new Endpoints(this, 'Endpoints', {
        services: props.endpoints,
        vpc: this.vpc,
        subnetIds: this.vpc.selectSubnets(this.subnets).subnetIds,
        securityGroupIds: this.securityGroups.map(({ securityGroupId }) => securityGroupId),
      });
  }

  /**
   * Imports a network by its ids, without looking it up in AWS. CDK requires an availability zone, but does not use it.
   */
  private byIds({ id, subnets, securityGroups }: Ids) {
    return {
      vpc: Vpc.fromVpcAttributes(this, 'GivenVpc', { vpcId: id, availabilityZones: ['any'] }),
      subnets: {
        subnets: subnets.map((each, index) => Subnet.fromSubnetId(this, `GivenSubnet${index}`, each)),
      },
      securityGroups: securityGroups?.map((each, index) =>
        SecurityGroup.fromSecurityGroupId(this, `GivenGroup${index}`, each),
      ),
    };
  }

  private ownVpc({ fixedAddress, logs, removal }: NetworkProps): Vpc {
    const allocationId = typeof fixedAddress === 'string' ? fixedAddress : undefined;
    const address = allocationId === undefined ? this.newAddress(removal) : undefined;
    const vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 1,
      natGatewayProvider: NatProvider.gateway({
        eipAllocationIds: [allocationId ?? address?.attrAllocationId ?? ''],
      }),
      subnetConfiguration: [
        { name: 'Public', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
      // Through these endpoints, traffic to the bucket and the table is free and avoids the NAT gateway.
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    const logGroup = new LogGroup(this, 'FlowLogs', logs);
    const flowLogs = new ServicePrincipal('vpc-flow-logs.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
    });
    const role = new Role(this, 'FlowLogsRole', { assumedBy: flowLogs });
    vpc.addFlowLog('FlowLog', { destination: FlowLogDestination.toCloudWatchLogs(logGroup, role) });
    if (address !== undefined) this.addOutputs(address);
    return vpc;
  }

  private onlyTls({ baseUrl, proxy }: NetworkProps): SecurityGroup {
    const group = new SecurityGroup(this, 'Functions', {
      vpc: this.vpc,
      allowAllOutbound: false,
      description: 'Functions that call the platform and AWS',
    });
    const port = portOf(baseUrl);
    group.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'Port 443 of the platform and AWS');
    const ofProxy = proxy && Number(new URL(proxy.url).port || (proxy.url.startsWith('https:') ? 443 : 80));
    if (ofProxy !== undefined && ofProxy !== 443 && ofProxy !== port)
      group.addEgressRule(Peer.anyIpv4(), Port.tcp(ofProxy), 'The proxy');
    if (port === 443) return group;
    // EC2 refuses the same rule twice, and a port that is known only at deployment may be 443.
    for (const half of isToken(port) ? ['0.0.0.0/1', '128.0.0.0/1'] : ['0.0.0.0/0'])
      group.addEgressRule(Peer.ipv4(half), Port.tcp(port), 'The port of the platform');
    return group;
  }

  private addOutputs(address: CfnEIP): void {
    new CfnOutput(this, 'EgressAddress', {
      value: address.attrPublicIp,
      description: 'The address to put on the allow-list of the platform',
    });
    new CfnOutput(this, 'EgressAllocation', {
      value: address.attrAllocationId,
      description: 'The value of fixedAddress by which another stack uses this address',
    });
  }

  /**
   * Creates an address. It stays when the setting is turned off and when the stack is deleted, since it is on the
   * platform's allow-list.
   */
  private newAddress(removal: Instance['removal']): CfnEIP {
    const address = new CfnEIP(this, 'Address', { domain: 'vpc' });
    address.applyRemovalPolicy(REMOVAL[removal]);
    return address;
  }

  /** Grants the actions by which Lambda connects a function. AWS accepts no narrower resource for them. */
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

/** The port of an origin over https: the number after its second colon, or 443. */
function portOf(origin: string): number {
  if (!isToken(origin)) return Number(new URL(origin).port || 443);
  const host = Fn.select(2, Fn.split('/', origin));
  return Token.asNumber(Fn.select(1, Fn.split(':', `${host}:443`)));
}
