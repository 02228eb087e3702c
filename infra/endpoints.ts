import {
  CfnVPCEndpoint,
  InterfaceVpcEndpointAwsService,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';

/**
 * The services that the functions call by interface endpoints: queues, durable executions, events, partitions, digests,
 * and the store of the token. Lambda itself sends logs, and services use the keys that encrypt their data; S3 and DynamoDB
 * have gateway endpoints, which cost nothing and belong to the route tables of the network.
 */
export const endpointServices = ['sqs', 'lambda', 'events', 'glue', 'sns', 'secretsmanager', 'ssm'] as const;

type EndpointsProps = {
  readonly services: readonly (typeof endpointServices)[number][];
  readonly vpc: IVpc;
  readonly subnetIds: readonly string[];
  /** The security groups of the functions. */
  readonly securityGroupIds: readonly string[];
};

/** Interface endpoints in an existing network, which only the functions may use. */
export class Endpoints extends Construct {
  constructor(scope: Construct, id: string, { services, vpc, subnetIds, securityGroupIds }: EndpointsProps) {
    super(scope, id);
    const group = new SecurityGroup(this, 'Group', {
      vpc,
      allowAllOutbound: false,
      description: 'Endpoints of AWS that the functions call',
    });
    for (const each of securityGroupIds)
      group.addIngressRule(Peer.securityGroupId(each), Port.tcp(443), 'From the functions');
    for (const service of new Set(services))
      new CfnVPCEndpoint(this, service, {
        vpcId: vpc.vpcId,
        serviceName: new InterfaceVpcEndpointAwsService(service).name,
        vpcEndpointType: 'Interface',
        subnetIds: [...subnetIds],
        securityGroupIds: [group.securityGroupId],
        privateDnsEnabled: true,
      });
  }
}
