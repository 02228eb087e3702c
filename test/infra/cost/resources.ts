import type { Priced } from './prices.ts';

type Cost = { readonly paid: readonly Priced[] } | { readonly free: string };

const vpc: Cost = { free: 'parts of a network cost nothing themselves' };
const iam: Cost = { free: 'IAM costs nothing' };

/** The cost of a resource of each type, or why it is free; a type that is missing here was not considered. */
export const costOfType: Readonly<Record<string, Cost>> = {
  'AWS::Athena::NamedQuery': { free: 'a query costs when it runs, by what it reads' },
  'AWS::Athena::WorkGroup': { free: 'a query costs when it runs, by what it reads' },
  'AWS::Chatbot::SlackChannelConfiguration': {
    free: 'Amazon Q Developer in chat applications costs nothing',
  },
  'AWS::CloudWatch::Alarm': { paid: ['alarmMetric'] },
  'AWS::CloudWatch::Dashboard': { paid: ['dashboard'] },
  'AWS::CodeDeploy::Application': { free: 'deployments to Lambda cost nothing' },
  'AWS::CodeDeploy::DeploymentGroup': { free: 'deployments to Lambda cost nothing' },
  'AWS::DynamoDB::Table': { paid: ['dynamoWrite', 'dynamoRead', 'dynamoGb', 'recoveryGb', 'kmsRequest'] },
  'AWS::EC2::EIP': { paid: ['addressHour'] },
  'AWS::EC2::FlowLog': { paid: ['logGb', 'logStoredGb'] },
  'AWS::EC2::InternetGateway': vpc,
  'AWS::EC2::NatGateway': { paid: ['natHour', 'natGb'] },
  'AWS::EC2::Route': vpc,
  'AWS::EC2::RouteTable': vpc,
  'AWS::EC2::SecurityGroup': vpc,
  'AWS::EC2::Subnet': vpc,
  'AWS::EC2::SubnetRouteTableAssociation': vpc,
  'AWS::EC2::VPC': vpc,
  'AWS::EC2::VPCEndpoint': { paid: ['endpointHour'] },
  'AWS::EC2::VPCGatewayAttachment': vpc,
  'AWS::Events::Rule': { paid: ['event'] },
  'AWS::Glue::Database': { free: 'only tables and partitions count' },
  'AWS::Glue::Table': { paid: ['glueObject', 'glueRequest'] },
  'AWS::IAM::ManagedPolicy': iam,
  'AWS::IAM::Policy': iam,
  'AWS::IAM::Role': iam,
  'AWS::Lambda::Alias': { free: 'names a version' },
  'AWS::Lambda::EventInvokeConfig': { free: 'says how often an invocation is tried' },
  'AWS::Lambda::EventSourceMapping': { paid: ['sqsRequest'] },
  'AWS::Lambda::Function': {
    paid: ['lambdaGbSecond', 'lambdaRequest', 'durableOperation', 'durableWrittenGb', 'durableStoredGb'],
  },
  'AWS::Lambda::LayerVersion': { free: '75 GB of code cost nothing' },
  'AWS::Lambda::Permission': iam,
  'AWS::Lambda::Version': { free: '75 GB of code cost nothing' },
  'AWS::Logs::LogGroup': { paid: ['logGb', 'logStoredGb'] },
  'AWS::Logs::MetricFilter': { paid: ['customMetric'] },
  'AWS::Logs::QueryDefinition': { free: 'a query costs when it runs, by what it reads' },
  'AWS::S3::Bucket': {
    paid: ['s3Write', 's3Read', 's3Gb', 'tierSecondGb', 'tierThirdGb', 'tierObject', 'tierMove', 'event'],
  },
  'AWS::S3::BucketPolicy': iam,
  'AWS::SNS::Subscription': { paid: ['email'] },
  'AWS::SNS::Topic': { paid: ['email'] },
  'AWS::SNS::TopicPolicy': iam,
  'AWS::SQS::Queue': { paid: ['sqsRequest'] },
  'AWS::SQS::QueuePolicy': iam,
  'AWS::Scheduler::Schedule': { paid: ['scheduleRun'] },
  'AWS::Scheduler::ScheduleGroup': { free: 'only schedules count' },
  'AWS::SecretsManager::Secret': { paid: ['secret', 'secretRequest'] },
};
