/** Account, region and credentials in the local AWS: any credentials are accepted, and everything is in this account. */
export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';
export const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' } as const;
