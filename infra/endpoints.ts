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
 * The AWS services that the functions call and that can have an interface endpoint. Not listed: S3 and DynamoDB, whose
 * gateway endpoints cost nothing and belong to the route tables of the network; logs, which Lambda itself sends; and
 * KMS, which other services call.
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
